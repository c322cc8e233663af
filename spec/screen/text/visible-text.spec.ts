import { describe, expect, it } from '@jest/globals';
import { visibleLine, visibleText } from '../../../lib/screen/text/neutralise.js';
import fc from '../../support/properties.js';

const character = (code: number): string => String.fromCodePoint(code);

describe('visibleText', () => {
  it.each([
    0x00, 0x07, 0x0b, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x034f, 0x061c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x180e,
    0x2003, 0x200b, 0x200d, 0x200e, 0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x2061, 0x2064, 0x2066, 0x2069, 0x206f,
    0x2800, 0x3000, 0x3164, 0xd800, 0xe000, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f,
    0xe0100, 0xe01ef, 0xffff,
  ])('names U+%i', (code) => {
    const name = `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    expect(visibleText(`a${character(code)}b`)).toBe(`a${name}b`);
  });

  it('leaves visible characters unchanged', () => {
    const text = 'grüße, 你好, שלום, नमस्ते, 👍🏽 👨‍👩‍👧 ❤️ 1️⃣ `x` {y}\n    indented';
    expect(visibleText(text)).toBe(text);
  });

  it('names what follows a letter and is not an emoji', () => {
    expect(visibleText('rm\ufe0f x')).toBe('rm<U+FE0F> x');
    expect(visibleText('a\u200db')).toBe('a<U+200D>b');
    expect(visibleText('🏴\u{e0067}\u{e007f}')).toBe('🏴<U+E0067><U+E007F>');
  });

  it('counts blanks, tabs and marks that would push or cover the rest', () => {
    expect(visibleText(`git status${' '.repeat(4000)}; touch x`)).toBe('git status<4000 spaces>; touch x');
    expect(visibleText(`a${'\t'.repeat(100)}b`)).toBe('a<400 spaces>b');
    expect(visibleText(`a${'\u0301'.repeat(3000)}b`)).toBe('a<3000 marks>b');
    expect(visibleText(`a${' '.repeat(32)}b`)).toBe(`a${' '.repeat(32)}b`);
  });

  it('hides nothing of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text)).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Cs}\p{Bidi_Control}\u2800]/u);
      }),
    );
  });

  it('is one line with visibleLine', () => {
    expect(visibleLine('a\nb\r')).toBe('a ⏎ b<U+000D>');
  });
});
