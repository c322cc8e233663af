import { describe, expect, it } from '@jest/globals';
import { significantWordsOf } from '../../../lib/skills/match.js';
import fc from '../../support/properties.js';

const stems = (text: string): string[] => significantWordsOf(text).map(({ stem }) => stem);

describe('the words of a text', () => {
  it('are the same with any ending', () => {
    expect(new Set(stems('cache caches cached caching'))).toEqual(new Set(['cach']));
    expect(new Set(stems('migrate migration migrations migrating'))).toEqual(new Set(['migrat']));
    expect(new Set(stems('deploy deploys deployed deploying deployment'))).toEqual(new Set(['deploy']));
    expect(new Set(stems('query queries'))).toEqual(new Set(['query']));
    expect(new Set(stems('plot plots plotting plotted'))).toEqual(new Set(['plot']));
  });

  it('are the same with and without accents, in any case and width', () => {
    expect(stems('Résumé RESUME ｒｅｓｕｍｅ')).toEqual(['resum', 'resum', 'resum']);
    expect(stems('Kündigung kundigen')).toEqual(['kundig', 'kundig']);
  });

  it('leave out words that say nothing about a subject', () => {
    expect(stems('Could you please write something for me about the other one?')).toEqual([]);
    expect(stems('kannst du mir bitte dabei helfen')).toEqual(['helfen']);
    expect(stems('qué es esto, por favor')).toEqual(['favor']);
    expect(stems('这个怎么写')).not.toContain('怎么');
  });

  it('are pairs of adjacent characters in a script without spaces', () => {
    expect(stems('数据库')).toEqual(['数据', '据库']);
    expect(stems('띄어쓰기')).toEqual(['띄어', '어쓰', '쓰기']);
    expect(stems('これはありがとうです')).toEqual([]);
    expect(stems('旅行のプラン')).toEqual(['旅行', '行の', 'のプ', 'プラ', 'ラン']);
    expect(stems('用docker部署')).toEqual(['docker', '部署']);
  });

  it('may be programming languages', () => {
    expect(stems('C++ and C# or F#')).toEqual(['c++', 'c#', 'f#']);
  });

  it('include their positions, in order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const words = significantWordsOf(text);
        const prepared = text.normalize('NFKC').toLowerCase();
        for (const { to } of words) expect(to).toBeLessThanOrEqual(prepared.length);
        expect(words.map(({ from }) => from)).toEqual(words.map(({ from }) => from).sort((one, other) => one - other));
      }),
    );
  });
});
