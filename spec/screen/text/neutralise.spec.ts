import { describe, expect, it } from '@jest/globals';
import { Neutraliser, neutralise, neutraliseJson } from '../../../lib/screen/text/neutralise.js';
import fc from '../../support/properties.js';

/** Text with much of what terminals obey in it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\x1b[31m',
        '\r',
        '\r\n',
        '\n',
        '\x07',
        '\x9b',
        '\ud83d',
        '\ude00',
        '😀',
        '\u0301',
        '\u0301'.repeat(7),
        '\u{1d165}'.repeat(9),
        '\u{1f3f4}',
        '\u{e0067}',
        '\u{e0067}\u{e0062}\u{e0065}',
        '\u{e007f}',
      ),
    ),
  )
  .map((pieces) => pieces.join(''));

describe('neutralise', () => {
  it('makes escape sequences visible', () => {
    expect(neutralise('\x1b[31mred\x1b]0;title\x07\x7f\x9b2J')).toBe('␛[31mred␛]0;title␇␡\ufffd2J');
  });

  it('leaves newlines, tabs and CRLF unchanged', () => {
    expect(neutralise('a\tb\r\nc\nd')).toBe('a\tb\r\nc\nd');
  });

  it('shows a lone return, which would overwrite the line', () => {
    expect(neutralise('rm -rf /\rls       ')).toBe('rm -rf /␍ls       ');
  });

  it('shows characters that reverse the direction, and breaks lines only at newlines', () => {
    expect(neutralise('a\u202eb\u2066c\u2028d')).toBe('a\ufffdb\ufffdc\ufffdd');
    expect(neutralise('שלום \u200f!')).toBe('שלום \u200f!');
  });

  it('shows tag characters, which are invisible, except in a flag', () => {
    const hidden = [...'rm -rf'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    expect(neutralise(`ls${hidden}`)).toBe(`ls${'\ufffd'.repeat(6)}`);
    expect(neutralise('a\u{e0001}b\u{e007f}c\u206ad\ufff9e')).toBe('a\ufffdb\ufffdc\ufffdd\ufffde');
    const england = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
    expect(neutralise(`${england}!`)).toBe(`${england}!`);
    expect(neutralise(`\u{1f3f4}${hidden}${hidden}`)).toMatch(/\ufffd{3,}$/);
    expect(neutraliseJson(JSON.stringify('a\u{e0041}'))).toBe('"a\\udb40\\udc41"');
  });

  it('limits the marks on one character', () => {
    expect(neutralise(`a${'\u0301'.repeat(3000)}b`)).toBe(`a${'\u0301'.repeat(16)}\ufffdb`);
    expect(neutralise('हिन्दी ก็ ấ')).toBe('हिन्दी ก็ ấ');
  });

  it('escapes control characters in JSON, and it stays the same JSON', () => {
    const value = { text: 'a\x7f\x9b2J\u202e\u2028é😀\x1b' };
    const shown = neutraliseJson(JSON.stringify(value));
    expect(shown).toBe('{"text":"a\\u007f\\u009b2J\\u202e\\u2028é😀\\u001b"}');
    expect(JSON.parse(shown)).toEqual(value);
  });

  it('leaves no control sequence in any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(neutralise(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/);
      }),
    );
  });

  it('gives the same for a text in chunks, however it is split', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(20)), (text, lengths) => {
        const neutraliser = new Neutraliser();
        let [from, shown] = [0, ''];
        for (const length of lengths) {
          shown += neutraliser.push(text.slice(from, from + length));
          from += length;
        }
        expect(shown + neutraliser.push(text.slice(from)) + neutraliser.end()).toBe(neutralise(text));
      }),
    );
  });
});
