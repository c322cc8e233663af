import { describe, expect, it } from '@jest/globals';
import { LineEditor } from '../../../lib/repl/editing/line-editor.js';
import { LongPastes } from '../../../lib/repl/editing/long-pastes.js';
import { ViKeys } from '../../../lib/repl/editing/vi-keys.js';
import fc, { cases } from '../../support/properties.js';

/** Types characters; `<esc>`, `<cr>`, `<C-w>` and the like are keys. Returns the text with the cursor as `|`. */
function typed(script: string, recall: readonly string[] = []): string {
  const editor = new LineEditor(new LongPastes(20), { entries: () => recall }, new ViKeys());
  for (const [token, key] of script.matchAll(/<([^<>]+)>|[\s\S]/gu)) {
    if (key === 'esc') editor.escape();
    else if (key === 'paste') editor.paste('a long text that becomes a token');
    else if (key?.startsWith('M-')) editor.key('', { meta: true, name: key.slice(2), sequence: `\x1b${key.slice(2)}` });
    else if (key?.startsWith('C-')) editor.key('', { ctrl: true, name: key.slice(2), sequence: '' });
    else if (key !== undefined) editor.key('', { name: key, sequence: '' });
    else if (token === '\n') editor.key('', { name: 'enter', sequence: '\n' });
    else editor.key(token, { name: token.toLowerCase(), sequence: token });
  }
  const { text, cursor } = editor.buffer;
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

/** What bash does with the same keys in its vi mode; checked with bash 5.2. */
const AS_IN_BASH: readonly (readonly [string, string])[] = [
  ['one two<esc>', 'one tw|o'],
  ['one two<esc>0', '|one two'],
  ['  one two<esc>^', '  |one two'],
  ['one two<esc>hhx', 'one |wo'],
  ['one two three<esc>bb', 'one |two three'],
  ['one two three<esc>0wD', 'one| '],
  ['one two three<esc>0wdw', 'one |three'],
  ['one two three<esc>02dw', '|three'],
  ['one two three<esc>0d2w', '|three'],
  ['one two three<esc>0cwX', 'X| two three'],
  ['one two three<esc>0ea!', 'one!| two three'],
  ['one two three<esc>0wcwX<esc>w.', 'one X |X'],
  ['foo(bar) baz<esc>0wwdw', 'foo(|) baz'],
  ['foo(bar) baz<esc>0dW', '|baz'],
  ['foo(bar) baz<esc>0dE', '| baz'],
  ['foo(bar) baz<esc>$B', 'foo(bar) |baz'],
  ['foo(bar) baz<esc>0%', 'foo(bar|) baz'],
  ['foo(bar) baz<esc>0d%', '| baz'],
  ['one two<esc>0fw', 'one t|wo'],
  ['one two<esc>0tw', 'one |two'],
  ['one two<esc>Fo', '|one two'],
  ['one two<esc>To', 'o|ne two'],
  ['a.b.c.d<esc>0f.;', 'a.b|.c.d'],
  ['a.b.c.d<esc>0f.;,', 'a|.b.c.d'],
  ['a.b.c.d<esc>02f.', 'a.b|.c.d'],
  ['a.b.c.d<esc>0df.', '|b.c.d'],
  ['one two<esc>0rX', '|Xne two'],
  ['one two<esc>03rX', 'XX|X two'],
  ['one two<esc>0RXY', 'XY|e two'],
  ['one two<esc>0~~', 'ON|e two'],
  ['one two<esc>03~', 'ONE| two'],
  ['one two<esc>0dwP', 'one| two'],
  ['one two<esc>0dw$p', 'twoone| '],
  ['one two<esc>0yw$p', 'one twoone| '],
  ['one two<esc>ccX', 'X|'],
  ['one two<esc>dd', '|'],
  ['one two<esc>SX', 'X|'],
  ['one two<esc>0sX', 'X|ne two'],
  ['one two<esc>0wCX', 'one X|'],
  ['one two<esc>X', 'one t|o'],
  ['one two<esc>0x.', '|e two'],
  ['one two<esc>0x..', '| two'],
  ['one two<esc>IX', 'X|one two'],
  ['one two<esc>0AX', 'one twoX|'],
  ['one two<esc>0iX', 'X|one two'],
  ['one two<esc>db', 'one |o'],
  ['one two<esc>05|', 'one |two'],
  ['one two<esc>0dq$', 'one tw|o'],
  ['one two<C-w>x', 'one x|'],
];

/** Where bash differs from vi. */
const AS_IN_VI: readonly (readonly [string, string])[] = [
  ['a.b.c.d<esc>0dt.', '|.b.c.d'],
  ['one two<esc>0xxu', '|ne two'],
];

describe("vi's keys", () => {
  it.each([...AS_IN_BASH, ...AS_IN_VI])('%s shows %s', (script, shown) => {
    expect(typed(script)).toBe(shown);
  });

  it('start each line in insert mode, and Escape twice is the command of Escape', () => {
    const editor = new LineEditor(new LongPastes(20), { entries: () => [] }, new ViKeys());
    expect(editor.isNormal).toBe(false);
    expect([editor.escape(), editor.isNormal, editor.escape()]).toEqual([true, true, false]);
    editor.reset();
    expect(editor.isNormal).toBe(false);
  });

  it('treat Escape and a key in quick succession as two', () => {
    expect(typed('one two<M-b>')).toBe('one |two');
  });

  it.each([
    ['one\ntwo<esc>dd', 'on|e'],
    ['one\ntwo<esc>kdd', '|two'],
    ['one\ntwo<esc>k0dw', '|\ntwo'],
    ['one\ntwo<esc>kl', 'on|e\ntwo'],
    ['one\ntwo<esc>kA!', 'one!|\ntwo'],
  ])('stay in their line of several: %j', (script, shown) => {
    expect(typed(script)).toBe(shown);
  });

  it('recall earlier inputs, and the last word of one', () => {
    expect(typed('<esc>k', ['first', 'second'])).toBe('secon|d');
    expect(typed('<esc>kkj', ['first', 'second'])).toBe('secon|d');
    expect(typed('see <esc>A<esc>_', ['open some/file'])).toBe('see some/file|');
  });

  it('treat the token of a long paste as one character', () => {
    expect(typed('a<paste>b<esc>hx')).toBe('a|b');
    expect(typed('a<paste>b<esc>0l~')).toBe('a[LongText#1]|b');
    expect(typed('a<paste>b<esc>0lrX')).toBe('a|Xb');
  });

  it('keep the cursor on a character, whatever is typed', () => {
    const key = fc.constantFrom(...'hlwbeWBE0$^%xXdcyDCYrRpPuU.~ia fta;,23\n', '<esc>', '<paste>', '<C-w>', '日');
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
        const shown = typed(`${keys.join('')}<esc><esc>`);
        const at = shown.indexOf('|');
        const line = shown.slice(shown.lastIndexOf('\n', at - 1) + 1).split('\n')[0] ?? '';
        expect(line === '|' || !line.endsWith('|')).toBe(true);
        expect(shown.replace('|', '')).not.toMatch(/\[LongText#1(?!\])|(?<!\[)LongText/);
      }),
      { numRuns: cases(300) },
    );
  });
});
