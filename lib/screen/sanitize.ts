/** Everything a terminal might obey: C0 but newline, tab and the return of a CRLF; DEL, C1, and halves of surrogate pairs, which no stream can encode. */
const OBEYED = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Cs}]|\r(?!\n)/u;
const ALL_OBEYED = new RegExp(OBEYED, 'gu');

/** The text with everything a terminal would obey made visible: an escape sequence is read, not executed. Newlines and tabs stay. */
export function neutralise(text: string): string {
  return OBEYED.test(text) ? text.replace(ALL_OBEYED, visible) : text;
}

/** `neutralise` for a text that arrives in pieces, cut anywhere. */
export interface Neutraliser {
  push(piece: string): string;
  /** What was held back because its next character decides, when no more comes. */
  end(): string;
}

/** The pieces it returns, joined, are what `neutralise` makes of the joined pieces. */
export function createNeutraliser(): Neutraliser {
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      held = isUndecided(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
      return neutralise(held === '' ? text : text.slice(0, -1));
    },
    end() {
      const rest = neutralise(held);
      held = '';
      return rest;
    },
  };
}

/** A return may belong to a CRLF, a high surrogate to a pair. */
const isUndecided = (code: number): boolean => code === 0x0d || (code >= 0xd800 && code <= 0xdbff);

/** Control pictures (U+2400…) stand for C0; C1 and lone surrogates have no picture. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
