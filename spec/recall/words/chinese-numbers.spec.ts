import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { numberWords } from '../../../lib/recall/words/fold.js';

describe('numbers in Chinese', () => {
  it.each([
    ['三月五号', '3月 5日'],
    ['3月5日', '3月 5日'],
    ['十二月三十一號', '12月 31日'],
    ['二〇二四年', '2024年'],
    ['下午三點', '3点'],
    ['三百五十块', '350'],
    ['三百五', '350'],
    ['一千二', '1200'],
    ['一千零二', '1002'],
    ['一千零二十', '1020'],
    ['两万二', '22000'],
    ['十二万三千', '123000'],
    ['三亿五千万', '350000000'],
    ['一九六八', '1968'],
    ['二十', '20'],
    ['十五', '15'],
    ['一个人', ''],
    ['350块', ''],
    ['08月', '8月'],
  ])('of %j are %j', (text, expected) => {
    expect(numberWords(text).join(' ')).toBe(expected);
  });

  it('are the digits of what is written in full', () => {
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 99_999_999 }), (value) => {
        expect(numberWords(written(value))).toEqual([String(value)]);
      }),
    );
  });
});

/** A number as it is written in full: 一万零二十. */
function written(value: number): string {
  const [high, low] = [Math.floor(value / 10_000), value % 10_000];
  if (high === 0) return thousands(low);
  const zero = low > 0 && low < 1000 ? '零' : '';
  return `${thousands(high)}万${zero}${low === 0 ? '' : thousands(low)}`;
}

function thousands(value: number): string {
  const places = ['千', '百', '十', ''].map(
    (unit, index) => [Math.floor(value / 10 ** (3 - index)) % 10, unit] as const,
  );
  const text = places.map(([digit, unit]) => (digit === 0 ? '零' : `${'零一二三四五六七八九'[digit]}${unit}`)).join('');
  return text.replace(/^零+/, '').replace(/零+$/, '').replace(/零+/g, '零');
}
