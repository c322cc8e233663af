import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldHan } from '../../../lib/recall/words/fold.js';

describe('forms of Chinese characters', () => {
  it.each([
    ['臺灣', '台湾', '台灣'],
    ['軟體開發', '软体开发'],
    ['裏面', '裡面', '里面'],
    ['頭髮', '头发'],
    ['為什麼', '为什么', '爲什麼'],
    ['看著', '看着'],
    ['図書館', '圖書館', '图书馆'],
    ['渡辺', '渡邊', '渡边'],
    ['広島', '廣島', '广岛'],
    ['沢', '澤', '泽'],
  ])('%s and %s are equal', (first, ...others) => {
    for (const other of others) expect(foldHan(other)).toBe(foldHan(first));
  });

  it.each([
    ['猫', '狗'],
    ['欠', '缺'],
    ['日', '曰'],
    ['己', '已'],
    ['未', '末'],
  ])('%s and %s are not', (first, second) => {
    expect(foldHan(first)).not.toBe(foldHan(second));
  });

  it('are folded once and for all, one character for one, and nothing else is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom(...'臺台萬万雲云a é') }),
        (any, han) => {
          const text = any + han;
          const folded = foldHan(text);
          expect(folded).toHaveLength(text.length);
          expect(foldHan(folded)).toBe(folded);
          expect(foldHan(any.replace(/\p{Script=Han}/gu, ''))).toBe(any.replace(/\p{Script=Han}/gu, ''));
        },
      ),
    );
  });
});
