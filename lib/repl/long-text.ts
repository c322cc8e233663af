import { type EditBuffer, insert, type Mark, type MarkedText, replaceRange } from './edit-buffer.js';

/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The long pastes of a session, each behind the token that stands for it on the screen. */
export interface LongTexts {
  /** Puts a paste into the buffer: as it is, or as a new token when it is long; the same again right behind its token opens that token. */
  paste(buffer: EditBuffer, text: string): EditBuffer;
  /** Makes a token of a known token's name that has just been typed out, so that it is one thing again. */
  recognise(buffer: EditBuffer): EditBuffer;
  /** The text with every token replaced once, left to right, and the spans of it that were pasted. */
  expand(piece: MarkedText): { readonly text: string; readonly pasted: readonly Span[] };
}

/** Keeps pastes of more than `limit` characters behind tokens; a character outside the BMP is one. */
export function createLongTexts(limit: number): LongTexts {
  const texts = new Map<string, string>();

  function collapse(text: string): MarkedText {
    const name = `[LongText#${texts.size + 1}]`;
    texts.set(name, text);
    return { text: name, marks: [{ start: 0, end: name.length, kind: 'token' }] };
  }

  return {
    paste(buffer, text) {
      if (!isLonger(text, limit)) return insert(buffer, pastedPiece(text));
      const before = buffer.marks.find((mark) => mark.kind === 'token' && mark.end === buffer.cursor);
      const name = before && buffer.text.slice(before.start, before.end);
      if (before && name && texts.get(name) === text)
        return replaceRange(buffer, before.start, before.end, pastedPiece(text));
      return insert(buffer, collapse(text));
    },
    recognise(buffer) {
      const name = /\[LongText#\d+\]$/.exec(buffer.text.slice(Math.max(0, buffer.cursor - 32), buffer.cursor))?.[0];
      if (name === undefined || !texts.has(name)) return buffer;
      const token: Mark = { start: buffer.cursor - name.length, end: buffer.cursor, kind: 'token' };
      if (buffer.marks.some((mark) => mark.end > token.start && mark.start < token.end)) return buffer;
      return { ...buffer, marks: [...buffer.marks, token].sort((one, other) => one.start - other.start) };
    },
    expand({ text, marks }) {
      let expanded = '';
      let end = 0;
      const pasted: Span[] = [];
      for (const mark of marks) {
        expanded += text.slice(end, mark.start);
        const name = text.slice(mark.start, mark.end);
        const whole = mark.kind === 'token' ? (texts.get(name) ?? name) : name;
        pasted.push({ start: expanded.length, end: expanded.length + whole.length });
        expanded += whole;
        end = mark.end;
      }
      return { text: expanded + text.slice(end), pasted };
    },
  };
}

function pastedPiece(text: string): MarkedText {
  return { text, marks: text === '' ? [] : [{ start: 0, end: text.length, kind: 'pasted' }] };
}

/** Counts code points, and no more of them than it must. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count > limit;
}
