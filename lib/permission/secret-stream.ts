import { distinctive } from './mask-secrets.js';
import { LOGIN_START } from './paths/address-logins.js';
import { maskedForms } from './secret-forms.js';

/** The beginnings of all shapes of keys; the rest of a key is one word. */
const SHAPE_START =
  /(?<![A-Za-z0-9])(?:sk-|AIza|ya29\.|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[abprs]-|hf_|npm_|pypi-|[rs]k_live_|SG\.|gsk_|xai-|AGE-SECRET-KEY-|eyJ)[A-Za-z0-9_.-]*$/;

/** The first and the last line of a private key. */
const BLOCK_START = '-----BEGIN ';
const BLOCK_END = /-----END [A-Z ]{0,40}-----/;

/** No key is longer, not even a private key with its lines. */
const MAX_WORD = 2048;
const MAX_BLOCK = 32 * 1024;

/**
 * Masks a text that arrives in pieces, cut anywhere: a possible beginning of a secret is held back until more arrives. `shapes`: whether texts of
 * a known shape of key are masked too.
 */
export class SecretStream {
  readonly #mask: (text: string) => string;
  readonly #plain: readonly string[];
  /** Encoders wrap lines, so these may have a line break anywhere. */
  readonly #encoded: readonly string[];
  readonly #longest: number;
  readonly #shapes: boolean;
  #pending = '';

  constructor(mask: (text: string) => string, secrets: readonly string[], shapes: boolean) {
    this.#mask = mask;
    this.#plain = distinctive(secrets);
    this.#encoded = this.#plain.flatMap((secret) => maskedForms(secret).slice(1));
    this.#longest = this.#encoded.reduce((longest, { length }) => Math.max(longest, length), 0);
    this.#shapes = shapes;
  }

  /** How many characters before a text decide what of it is masked. */
  get reach(): number {
    return Math.max(6 * this.#longest, this.#shapes ? MAX_BLOCK : 0);
  }

  /** A stream of its own that goes on where this one is. */
  copy(): SecretStream {
    const copy = new SecretStream(this.#mask, this.#plain, this.#shapes);
    copy.#pending = this.#pending;
    return copy;
  }

  /**
   * Goes on after a gap, of which `before` is the end. Returns what is left out, not masked, for counting: what was held back, and `before`
   * except for what may be the beginning of a secret.
   */
  goOnAfter(before: string): string {
    const held = this.#pending;
    const cut = before.length - this.#waiting(before);
    this.#pending = before.slice(cut);
    return held + before.slice(0, cut);
  }

  push(piece: string): string {
    const text = this.#pending + piece;
    const waiting = this.#waiting(text);
    this.#pending = text.slice(text.length - waiting);
    return this.#mask(text.slice(0, text.length - waiting));
  }

  /** Returns the text that is still held back, at the end. */
  end(): string {
    const rest = this.#mask(this.#pending);
    this.#pending = '';
    return rest;
  }

  /** The number of characters at the end that may begin a secret. */
  #waiting(text: string): number {
    const unbroken = withoutBreaks(text, 6 * this.#longest);
    const begun = longestBeginning(unbroken.text, this.#encoded);
    const isBegun = begun >= LEAST_BEFORE_BREAK || (begun > 0 && !text.endsWith('\n'));
    const encoded = isBegun ? text.length - unbroken.place(unbroken.text.length - begun) : 0;
    const rest = this.#afterWhole(text, unbroken, Math.max(encoded, longestBeginning(text, this.#plain)));
    return this.#shapes ? Math.max(rest, shapeAtEnd(text)) : rest;
  }

  /** Does not cut a complete secret, although its end may begin another one. */
  #afterWhole(text: string, unbroken: Unbroken, waiting: number): number {
    if (waiting === 0) return 0;
    const cut = text.length - waiting;
    const end = endOfWhole(text, cut, this.#plain);
    if (end !== null) return text.length - end;
    const cutUnbroken = unbroken.indexAt(cut);
    const endUnbroken = endOfWhole(unbroken.text, cutUnbroken, this.#encoded);
    return endUnbroken === null ? waiting : text.length - unbroken.place(endUnbroken - 1) - 1;
  }
}

/** A line that ends with fewer characters of an encoded secret is shown at once; otherwise many lines would be held back. */
const LEAST_BEFORE_BREAK = 4;

/** The end of a text without its line breaks. */
interface Unbroken {
  readonly text: string;
  /** The position of each of its characters in the whole text. */
  place(index: number): number;
  /** The first of its characters at or after this position. */
  indexAt(place: number): number;
}

function withoutBreaks(whole: string, length: number): Unbroken {
  const from = Math.max(0, whole.length - length);
  const end = whole.slice(from);
  if (!/[\r\n]/.test(end))
    return { text: end, place: (index) => from + index, indexAt: (place) => Math.max(0, place - from) };
  const places: number[] = [];
  for (let at = 0; at < end.length; at += 1) if (end[at] !== '\n' && end[at] !== '\r') places.push(from + at);
  return {
    text: end.replace(/[\r\n]/g, ''),
    place: (index) => places[index] ?? whole.length,
    indexAt: (place) => places.filter((one) => one < place).length,
  };
}

/** The end of the first form that begins before `cut` and ends at or after it; null for none. */
function endOfWhole(text: string, cut: number, forms: readonly string[]): number | null {
  for (const form of forms) {
    const at = text.indexOf(form, Math.max(0, cut - form.length + 1));
    if (at !== -1 && at < cut) return at + form.length;
  }
  return null;
}

const longestBeginning = (text: string, forms: readonly string[]): number =>
  forms.reduce((longest, form) => Math.max(longest, beginningAtEnd(text, form)), 0);

/** The length of the longest end of the text that is a beginning of the secret. */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

function shapeAtEnd(text: string): number {
  const block = text.lastIndexOf(BLOCK_START);
  if (block !== -1 && text.length - block < MAX_BLOCK && !BLOCK_END.test(text.slice(block))) return text.length - block;
  const dashes = beginningAtEnd(text, BLOCK_START);
  if (dashes >= 5) return dashes;
  const end = text.slice(-MAX_WORD);
  return Math.max(SHAPE_START.exec(end)?.[0].length ?? 0, LOGIN_START.exec(end)?.[0].length ?? 0);
}
