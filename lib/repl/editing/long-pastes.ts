import { quotedInput } from '../../chat/message.js';
import { quantity, sizeText } from '../../chat/text.js';
import {
  bufferOf,
  type EditBuffer,
  insert,
  isMarked,
  type MarkedRange,
  type MarkedText,
  replaceRange,
  sliceMarked,
} from './edit-buffer.js';

/** A range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The long pastes of a session. The line shows each one as a token such as `[LongText#1]`. */
export class LongPastes {
  readonly #texts = new Map<string, string>();
  /** The size of each paste, as shown to the user. */
  readonly #sizes = new Map<string, string>();
  readonly #limit: number;

  /** A paste of more than `limit` code points becomes a token. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Inserts a paste, as a new token when it is long. The same text pasted right after its token expands that token. */
  paste(buffer: EditBuffer, text: string): EditBuffer {
    if (!isLonger(text, this.#limit)) return insert(buffer, pastedText(text));
    const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.end === buffer.cursor);
    const name = token && buffer.text.slice(token.start, token.end);
    if (token && name && this.#texts.get(name) === text)
      return replaceRange(buffer, token.start, token.end, pastedText(text));
    return insert(buffer, this.#addToken(text));
  }

  /** Marks a known token whose name was just typed out. */
  recognise(buffer: EditBuffer): EditBuffer {
    const name = /\[LongText#\d+\]$/.exec(buffer.text.slice(Math.max(0, buffer.cursor - 32), buffer.cursor))?.[0];
    if (name === undefined || !this.#texts.has(name)) return buffer;
    const token: MarkedRange = { start: buffer.cursor - name.length, end: buffer.cursor, kind: 'token' };
    if (buffer.marks.some((mark) => mark.end > token.start && mark.start < token.end)) return buffer;
    return { ...buffer, marks: [...buffer.marks, token].sort((one, other) => one.start - other.start) };
  }

  /** An earlier input with its long pastes folded into tokens again. The cursor is at the end. */
  fold(text: string): EditBuffer {
    const longestFirst = [...this.#texts].sort(([, one], [, other]) => other.length - one.length);
    const folded = longestFirst.reduce((buffer, [name, paste]) => foldOne(buffer, name, paste), bufferOf(text));
    return { ...folded, cursor: folded.text.length };
  }

  /** The sizes of the pastes in a line: `#1: 5,000 lines, 104 kB`; null if it has none. */
  sizes({ text, marks }: MarkedText): string | null {
    const tokens = marks.filter(({ kind }) => kind === 'token').map(({ start, end }) => text.slice(start, end));
    return tokens.length === 0 ? null : [...new Set(tokens)].map((name) => this.#sizes.get(name) ?? '').join(' · ');
  }

  /** Expands every token once, left to right. `pasted` lists the ranges of the result that were pasted. */
  expand({ text, marks }: MarkedText): { readonly text: string; readonly pasted: readonly Span[] } {
    let expanded = '';
    let end = 0;
    const pasted: Span[] = [];
    for (const mark of marks) {
      expanded += text.slice(end, mark.start);
      const name = text.slice(mark.start, mark.end);
      const whole = mark.kind === 'token' ? (this.#texts.get(name) ?? name) : name;
      pasted.push({ start: expanded.length, end: expanded.length + whole.length });
      expanded += whole;
      end = mark.end;
    }
    return { text: expanded + text.slice(end), pasted };
  }

  #addToken(text: string): MarkedText {
    const name = `[LongText#${this.#texts.size + 1}]`;
    this.#texts.set(name, text);
    this.#sizes.set(name, `#${this.#texts.size}: ${sizeOf(text)}`);
    return tokenOf(name);
  }
}

const tokenOf = (name: string): MarkedText => ({
  text: name,
  marks: [{ start: 0, end: name.length, kind: 'token' }],
});

function sizeOf(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n').length;
  return `${quantity(lines, 'line')}, ${sizeText(Buffer.byteLength(text))}`;
}

/** Puts a token wherever the paste is, but not over another token. */
function foldOne(buffer: EditBuffer, name: string, paste: string): EditBuffer {
  let folded = buffer;
  for (let at = buffer.text.indexOf(paste); at !== -1; ) {
    const end = at + paste.length;
    const isFree = !folded.marks.some((mark) => mark.start < end && mark.end > at);
    if (isFree) folded = replaceRange(folded, at, end, tokenOf(name));
    at = folded.text.indexOf(paste, at + (isFree ? name.length : 1));
  }
  return folded;
}

function pastedText(text: string): MarkedText {
  return { text, marks: text === '' ? [] : [{ start: 0, end: text.length, kind: 'pasted' }] };
}

/** Counts code points, but only if the length in UTF-16 units does not settle it. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count > limit;
}

/**
 * Whether the text starts with `"""` and does not end with a closing `"""`. Pasted quotes neither open nor close a
 * block.
 */
export function isOpenBlock(input: MarkedText): boolean {
  const start = input.text.search(/\S/);
  const end = input.text.trimEnd().length;
  if (!input.text.startsWith('"""', start) || isMarked(input, start)) return false;
  return end - start < 6 || !input.text.startsWith('"""', end - 3) || isMarked(input, end - 1);
}

/** The text inside a quoted block, without the newlines next to the quotes. Returns any other text unchanged. */
export function blockText(input: MarkedText): MarkedText {
  const block = /^(\s*"""(?:\r?\n)?)(.*?)(?:\r?\n)?"""\s*$/s.exec(input.text);
  if (block === null || isOpenBlock(input) || isMarked(input, input.text.indexOf('"'))) return input;
  const [, opening = '', inside = ''] = block;
  return sliceMarked(input, opening.length, opening.length + inside.length);
}

/** Whether the text begins with a paste of several lines, which is never a command, however it begins. */
export function beginsWithPastedLines(text: string, pasted: readonly Span[]): boolean {
  const start = text.search(/\S/);
  const beginning = pasted.find((span) => span.start <= start && start < span.end);
  return beginning !== undefined && text.slice(beginning.start, beginning.end).trim().includes('\n');
}

/**
 * A text for the input history, which does not know what was pasted: in quotes if it would be recalled as a command or
 * as a block.
 */
export function recallable({ text, pasted }: { readonly text: string; readonly pasted: readonly Span[] }): string {
  return beginsWithPastedLines(text, pasted) ? quotedInput(text) : text;
}
