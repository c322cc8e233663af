/** Every control character: C0 except newline, tab and the return of a CRLF, DEL and C1. Lone surrogates too, which no stream can encode. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Cs}]|\r(?!\n)/u;
const ALL_CONTROLS = new RegExp(CONTROL, 'gu');

/** The text with control characters made visible, so that a terminal shows an escape sequence instead of executing it. Newlines and tabs stay. */
export function neutralise(text: string): string {
  return CONTROL.test(text) ? text.replace(ALL_CONTROLS, visible) : text;
}

/** `neutralise` for a text that arrives in pieces, cut anywhere: the pieces it returns, joined, are what `neutralise` makes of the whole. */
export class Neutraliser {
  /** A last character whose meaning depends on the next one. */
  #pending = '';

  push(piece: string): string {
    const text = this.#pending + piece;
    this.#pending = isUndecided(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
    return neutralise(this.#pending === '' ? text : text.slice(0, -1));
  }

  /** Returns what is still pending when no more text comes. */
  end(): string {
    const rest = neutralise(this.#pending);
    this.#pending = '';
    return rest;
  }
}

/** A return may be the start of a CRLF, a high surrogate that of a pair. */
const isUndecided = (code: number): boolean => code === 0x0d || (code >= 0xd800 && code <= 0xdbff);

/** Unicode has control pictures (from U+2400) for C0 and DEL, but none for C1 and lone surrogates. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
