import { isJsonObject, type JsonObject, type JsonValue } from '../chat/json.js';
import { LOGIN_START, replaceLogins } from './paths/address-logins.js';

/** The text that replaces a secret. A call that contains it is refused, or the secret would be overwritten with it. */
export const MASK = '[secret hidden by hi]';

/** Shapes that only keys have, each as its vendor documents it. */
export const SHAPES: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek
  'sk-[A-Za-z0-9_-]{20,}',
  // Google
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  // GitHub, GitLab
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{50,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  // AWS
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  // Slack, Hugging Face, npm, PyPI, Stripe, SendGrid, Groq, xAI, age
  'xox[abprs]-[A-Za-z0-9-]{10,}',
  'hf_[A-Za-z0-9]{30,}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,}',
  '[rs]k_live_[A-Za-z0-9]{20,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{50,}',
  // JSON Web Tokens. The first part ends where another token may begin, or a text of many beginnings would take
  // quadratic time.
  'eyJ(?:[A-Za-z0-9_-](?<![_-]eyJ)){10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
  // Private keys in PEM
  '-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)',
];

/** Every text of such a shape has one of these in it. */
const SHAPE_SIGNS: readonly string[] =
  'sk- AIza ya29. ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- AKIA ASIA xox hf_ npm_ pypi- k_live_ SG. gsk_ xai- AGE-SECRET-KEY- eyJ -----BEGIN'.split(
    ' ',
  );

/**
 * Whether a key is distinctive enough to be replaced wherever it occurs. Servers without keys are configured with words
 * such as `ollama` and `not-needed`, which occur in ordinary text.
 */
export function isDistinctiveSecret(secret: string): boolean {
  return secret.length >= 6 && !/^[a-z_-]{1,15}$/i.test(secret);
}

/**
 * A function that masks the given secrets in every form (`secretForms`), what truncation leaves of them, every text of
 * a known shape of key, and credentials in URLs.
 */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const own = distinctive(secrets);
  const whole = own.map(secretPattern);
  const cut = { patterns: own.map(cutSecretPattern), signs: own.flatMap(cutSecretSigns) };
  const shape = { patterns: [ANY_SHAPE], signs: SHAPE_SIGNS };
  // What cannot match is not looked for at each character: in long texts that takes ten times as long.
  const masks = [[], [cut], [shape], [cut, shape]].map((parts) =>
    masking([...whole, ...parts.flatMap(({ patterns }) => patterns)]),
  );
  return (text) => {
    const mask = masks[(hasOne(text, cut.signs) ? 1 : 0) + (hasOne(text, shape.signs) ? 2 : 0)];
    return replaceLogins(mask?.(text) ?? '', () => MASK);
  };
}

const hasOne = (text: string, signs: readonly string[]): boolean => signs.some((sign) => text.includes(sign));

/** A function that masks the given secrets, and nothing else, in every form. */
export function ownSecretMask(secrets: readonly string[]): (text: string) => string {
  return masking(distinctive(secrets).map(secretPattern));
}

const ANY_SHAPE = `(?<![A-Za-z0-9])(?:${SHAPES.join('|')})`;

/** The longest first, because one may be the beginning of another. */
export const distinctive = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets)].filter(isDistinctiveSecret).sort((one, other) => other.length - one.length);

function masking(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text;
  const pattern = new RegExp(patterns.join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

/** Masks every text in an object. */
export function maskObject(object: JsonObject, mask: (text: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, value === undefined ? undefined : maskValue(value, mask)]),
  );
}

function maskValue(value: JsonValue, mask: (text: string) => string): JsonValue {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((element: JsonValue) => maskValue(element, mask));
  return isJsonObject(value) ? maskObject(value, mask) : value;
}

/** Shorter forms are not looked for: they would occur in ordinary text. */
const MIN_ENCODED = 12;

/**
 * A secret in plain text and in common encodings: Base64 at any of three offsets, hexadecimal, percent-encoding, JSON.
 */
export function secretForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = [...[0, 1, 2].flatMap((offset) => base64Forms(bytes, offset)), hex, hex.toUpperCase()];
  const quoted = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  return [...new Set([secret, ...quoted, ...encoded.filter((form) => form.length >= MIN_ENCODED)])];
}

/** Forms that only a model would ask for: the secret backwards, and with every character percent-encoded. */
function disguises(secret: string): readonly string[] {
  const percent = Buffer.from(secret).toString('hex').toUpperCase().replace(/../g, '%$&');
  return [[...secret].reverse().join(''), percent].filter((form) => form.length >= MIN_ENCODED);
}

/**
 * The Base64 characters that do not depend on the text around the secret, if it begins at the `offset`th of three
 * bytes.
 */
function base64Forms(bytes: Buffer, offset: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const own = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Every form that is masked. */
export function maskedForms(secret: string): readonly string[] {
  return [...secretForms(secret), ...disguises(secret)];
}

/** A pattern for the secret in every form. Encoders wrap lines, so an encoded form may have a line break anywhere. */
export function secretPattern(secret: string): string {
  const [plain = '', ...others] = maskedForms(secret);
  return [escaped(plain), ...others.map((form) => [...form].map(escaped).join('(?:\\r?\\n)?'))].join('|');
}

/**
 * A pattern for what truncation leaves of the secret: its beginning at the end of the text or before the line about
 * omitted text, its end at the beginning or after that line. At least a quarter of it, and 8 characters.
 */
export function cutSecretPattern(secret: string): string {
  const least = leastOfCut(secret);
  if (secret.length <= least) return '(?!)';
  const more = [...secret.slice(least)].reduceRight((rest, next) => `(?:${escaped(next)}${rest})?`, '');
  const less = [...secret.slice(0, -least)].reduce((rest, next) => `(?:${rest}${escaped(next)})?`, '');
  return `${escaped(secret.slice(0, least))}${more}(?=$|\\n\\[…)|(?<=^|…\\]\\n)${less}${escaped(secret.slice(-least))}`;
}

/** Every text that the pattern matches contains one of these. */
export function cutSecretSigns(secret: string): readonly string[] {
  const least = leastOfCut(secret);
  return secret.length <= least ? [] : [secret.slice(0, least), secret.slice(-least)];
}

const leastOfCut = (secret: string): number => Math.max(8, Math.ceil(secret.length / 4));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, (character) => `\\u${unit(character)}`);

const unit = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');

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
 * Masks a text that arrives in pieces, cut anywhere: a possible beginning of a secret is held back until more arrives.
 * `shapes`: whether texts of a known shape of key are masked too.
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
   * Goes on after a gap, of which `before` is the end. Returns what is left out, not masked, for counting: what was
   * held back, and `before` except for what may be the beginning of a secret.
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

/**
 * A line that ends with fewer characters of an encoded secret is shown at once; otherwise many lines would be held
 * back.
 */
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
