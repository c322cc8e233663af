import { describe, expect, it } from '@jest/globals';
import { LineEditor } from '../../../lib/repl/editing/line-editor.js';
import { LongPastes } from '../../../lib/repl/editing/long-pastes.js';
import fc from '../../support/properties.js';

const LIMIT = 20;

interface EditorSetup {
  readonly editor: LineEditor;
  readonly longPastes: LongPastes;
  /** Types characters and presses keys: `<left>` and the like are keys, everything else is typed. */
  keys(script: string): void;
  /** The text with the cursor as `|`. */
  shown(): string;
  expanded(): string;
}

function setUp(recall: readonly string[] = []): EditorSetup {
  const longPastes = new LongPastes(LIMIT);
  const editor = new LineEditor(longPastes, { entries: () => recall });
  const press = (name: string): void => {
    const [, control, meta, key = ''] = /^(C-)?(M-)?(.+)$/.exec(name) ?? [];
    const sequence = { 'C-_': '\x1f', 'C-^': '\x1e', 'M-.': '\x1b.' }[name] ?? '';
    editor.key('', { name: key, ctrl: control !== undefined, meta: meta !== undefined, sequence });
  };
  return {
    editor,
    longPastes,
    keys(script) {
      for (const [token, key] of script.matchAll(/<([^<>]+)>|[\s\S]/gu)) {
        if (key !== undefined) press(key);
        else if (token === '\n') press('enter');
        else editor.key(token, { name: token, sequence: token });
      }
    },
    shown: () =>
      `${editor.buffer.text.slice(0, editor.buffer.cursor)}|${editor.buffer.text.slice(editor.buffer.cursor)}`,
    expanded: () => longPastes.expand(editor.buffer).text,
  };
}

describe('the line editor', () => {
  it.each([
    ['hello<left><left>X', 'helX|lo'],
    ['one two<C-a>X<C-e>Y', 'Xone twoY|'],
    ['one two<M-b>X', 'one X|two'],
    ['one two<C-a><M-f>X', 'oneX| two'],
    ['one two<C-w>', 'one |'],
    ['a/b c/d<C-w>', 'a/b |'],
    ['a/b c/d<M-backspace>', 'a/b c/|'],
    ['one two<C-a><M-d>', '| two'],
    ['one two<M-b><C-k>', 'one |'],
    ['one two<M-b><C-u>', '|two'],
    ['one two<C-w><C-w><C-y>', 'one two|'],
    ['one two<C-w>x<C-u><C-y><M-y>', 'two|'],
    ['one two<C-a><M-u>!', 'ONE!| two'],
    ['ONE TWO<C-a><M-f><M-l>!', 'ONE two!|'],
    ['one tWO<C-a><M-f><M-c>!', 'one Two!|'],
    ['ab<C-t>', 'ba|'],
    ['abc<left><C-t>', 'acb|'],
    ['ab<C-a><delete><C-d>', '|'],
    ['ab<backspace><C-h>', '|'],
    ['e\u0301x<left><left>y', 'y|e\u0301x'],
    ['👨‍👩‍👧<backspace>a', 'a|'],
    ['日本<left>x', '日x|本'],
    ['🇩🇪🇫🇷<backspace>', '🇩🇪|'],
    ['one\ntwo<up>X', 'oneX|\ntwo'],
    ['one\ntwo<up><C-a><down>X', 'one\nX|two'],
    ['one<M-return>two', 'one\ntwo|'],
    ['one\\<return>two', 'one\ntwo|'],
    ['"""<return>a<return>b', '"""\na\nb|'],
    ['one two<C-_>', 'one |'],
    ['one two<C-_><C-_><C-^>', 'one |'],
  ])('turns %j into %j', (script, shown) => {
    const { keys, shown: result } = setUp();
    keys(script);
    expect(result()).toBe(shown);
  });

  it.each([
    ['ab', 'submit'],
    ['ab\\', 'edited'],
    ['ab\\\\', 'submit'],
    ['"""', 'edited'],
    ['""" a """', 'submit'],
    ['"""\na', 'edited'],
    ['"""\na"""', 'submit'],
  ])('takes Enter after %j as %s', (typed, outcome) => {
    const { editor, keys } = setUp();
    keys(typed);
    expect(editor.key('\r', { name: 'return', sequence: '\r' })).toBe(outcome);
  });

  it('recalls earlier inputs and returns to what was typed', () => {
    const { keys, shown } = setUp(['first', 'second\nline']);
    keys('draft<up>');
    expect(shown()).toBe('second\nline|');
    keys('<up>');
    expect(shown()).toBe('seco|nd\nline');
    keys('<up>');
    expect(shown()).toBe('first|');
    keys('<up>');
    expect(shown()).toBe('first|');
    keys('<C-n><C-n><down>');
    expect(shown()).toBe('draft|');
  });
});

describe('a paste', () => {
  const long = 'x'.repeat(LIMIT + 1);

  it('stays unchanged up to the limit and becomes a token above it', () => {
    const { editor, shown } = setUp();
    editor.paste('y'.repeat(LIMIT));
    editor.paste(long);
    expect(shown()).toBe(`${'y'.repeat(LIMIT)}[LongText#1]|`);
  });

  it('counts a character outside the BMP as one', () => {
    const { editor, shown } = setUp();
    editor.paste('😀'.repeat(LIMIT));
    editor.paste('😀'.repeat(LIMIT + 1));
    expect(shown()).toBe(`${'😀'.repeat(LIMIT)}[LongText#1]|`);
  });

  it('is shown in full if the same text is pasted again right away', () => {
    const { editor, keys, shown } = setUp();
    editor.paste(long);
    editor.paste(long);
    expect(shown()).toBe(`${long}|`);
    keys('<C-_>');
    expect(shown()).toBe('[LongText#1]|');
  });

  it('is deleted, killed, yanked and skipped as a whole', () => {
    const { editor, keys, shown, expanded } = setUp();
    keys('a ');
    editor.paste(long);
    keys(' b<left><left><left>');
    expect(shown()).toBe('a |[LongText#1] b');
    keys('<right><backspace>');
    expect(shown()).toBe('a | b');
    keys('<C-_><C-a><C-k><C-y><C-y>');
    expect(expanded()).toBe(`a ${long} ba ${long} b`);
    keys('<C-a><right><right><M-d>');
    expect(shown()).toBe('a | ba [LongText#1] b');
  });

  it('does not replace a token in pasted text, or one that was never issued', () => {
    const { editor, keys, longPastes, expanded } = setUp();
    editor.paste(`${long} [LongText#2]`);
    editor.paste('the other one is even longer');
    keys(' [LongText#7] ');
    editor.paste('[LongText#1]');
    expect(expanded()).toBe(`${long} [LongText#2]the other one is even longer [LongText#7] [LongText#1]`);
    expect(longPastes.expand(editor.buffer).pasted).toHaveLength(3);
  });

  it('is inserted for a known token that is typed out', () => {
    const { editor, keys, expanded, shown } = setUp();
    editor.paste(long);
    keys('<backspace>again: [LongText#1]');
    expect(expanded()).toBe(`again: ${long}`);
    keys('<backspace>');
    expect(shown()).toBe('again: |');
  });

  it('is inserted in full, whatever is edited around its token', () => {
    const atom = fc.constantFrom('a', ' ', 'é', '😀', '日', '\n');
    const pasted = fc.oneof(
      fc.constantFrom(long, `${long}[LongText#1]`, '[LongText#1]', '[LongText#2]'.repeat(3)),
      fc.array(atom, { maxLength: 40 }).map((atoms) => atoms.join('')),
    );
    const step = fc.oneof(
      atom.map((text) => ({ do: 'type', text }) as const),
      pasted.map((text) => ({ do: 'paste', text }) as const),
      fc
        .constantFrom('left', 'right', 'backspace', 'delete', 'home', 'end')
        .map((name) => ({ do: 'press', name }) as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { editor, keys, expanded } = setUp();
        const model = new Model();
        for (const next of steps) {
          if (next.do === 'press') keys(`<${next.name}>`);
          else if (next.do === 'type') keys(next.text);
          else editor.paste(next.text);
          if (next.do === 'press') model.press(next.name);
          else if (next.do === 'type') model.put([next.text]);
          else model.paste(next.text);
        }
        expect(expanded()).toBe(model.text());
      }),
      { numRuns: 500 },
    );
  });
});

/** The same line as a list of things that are deleted as a whole: characters, and long pastes. */
class Model {
  #things: string[] = [];
  #at = 0;

  put(things: readonly string[]): void {
    this.#things.splice(this.#at, 0, ...things);
    this.#at += things.length;
  }

  paste(text: string): void {
    if ([...text].length <= LIMIT) this.put([...text]);
    else if (this.#at > 0 && this.#things[this.#at - 1] === text) {
      this.#things.splice(this.#at - 1, 1);
      this.#at -= 1;
      this.put([...text]);
    } else this.put([text]);
  }

  press(name: string): void {
    const line = this.#things;
    if (name === 'left') this.#at = Math.max(0, this.#at - 1);
    if (name === 'right') this.#at = Math.min(line.length, this.#at + 1);
    if (name === 'home') this.#at = line.slice(0, this.#at).lastIndexOf('\n') + 1;
    if (name === 'end') this.#at = line.indexOf('\n', this.#at) === -1 ? line.length : line.indexOf('\n', this.#at);
    if (name === 'backspace' && this.#at > 0) {
      this.#at -= 1;
      line.splice(this.#at, 1);
    }
    if (name === 'delete') line.splice(this.#at, 1);
  }

  text(): string {
    return this.#things.join('');
  }
}
