import { asShownHere } from '../time-zone/time-zone.js';

/**
 * The first characters of a text, one fewer if the cut would split a surrogate pair: vendors reject a lone surrogate
 * with status 400.
 */
export function firstCharacters(text: string, length: number): string {
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last characters of a text, one fewer where the first of them is the second half of a surrogate pair. */
export function lastCharacters(text: string, length: number): string {
  const start = Math.max(0, text.length - length);
  return text.slice(start > 0 && isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

export const newlinesIn = (text: string): number => text.split('\n').length - 1;

/** The number of pieces after which they are joined: millions of small strings take several times the memory of one. */
const MOST_PIECES = 4096;

/** The pieces of a text while they arrive. */
export class Pieces {
  #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) < MOST_PIECES) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** Returns the whole text and forgets it. */
  take(): string {
    const text = [...this.#joined, ...this.#pieces].join('');
    this.#joined = [];
    this.#pieces = [];
    return text;
  }
}

/**
 * The ways in which messages name the window: a number after the word for a limit, or before it. The most certain
 * first.
 */
const NUMBERS: readonly RegExp[] = [
  /\b(?:n_ctx|max_model_len|max_seq_len)['"]?(?:\s?[:=]\s?| )(\d+)/,
  /> (\d+)/,
  /\b(\d{1,12}) (?:tokens? )?max(?:imum)?\b/,
  /context (?:size|length|window|window limit) \((?:of )?(\d+)(?: tokens?)?\)/,
  /\bmodel(?:'s)? (?:max(?:imum)? )?(?:context )?(?:length|window)(?: is| of|:)? ?(?:only )?(\d+)/,
  /\bmax(?:imum)?(?: allowed)? (?:model |prompt |input |context |sequence |window )*(?:length|size|tokens|window)(?: is| of|:)? ?(?:only )?(\d+)/,
  /\ballowed \((\d+)\)/,
  /context (?:length|size|window|limit)(?: limit)?(?: of| is|:)*(?: only)? (\d+)/,
  /(?:tokens?|configured|context|the|while) limit(?: of| is|:)* (\d+)/,
  /\bsupports? (?:only |up to |at most |a maximum of )*(\d+)/,
  /length should be \[\d+, ?(\d+)\]/,
  /must (?:be|have) (?:<=|less than(?: or equal to)?) (\d+)/,
  /cannot exceed (\d+)|\blimit(?: is| of)?:? (\d+)/,
];

/** A smaller number in such a message is a code or a count of messages. */
const LEAST_WINDOW = 256;

/** The window in tokens that an overflow message names; null if it names none. */
export function windowIn(words: string): number | null {
  const text = wholeNumbers(words.toLowerCase());
  for (const pattern of NUMBERS) {
    const found = pattern.exec(text);
    const named = Number(found?.[1] ?? found?.[2] ?? 0);
    if (named >= LEAST_WINDOW) return named;
  }
  return null;
}

/** A count with its noun: `1 message`, `1,400 messages`, `2 entries`. */
export function quantity(count: number, one: string, many = `${one}s`): string {
  return `${withCommas(count)} ${count === 1 ? one : many}`;
}

/** A whole number: `950`, `18,400`. */
export function withCommas(count: number): string {
  const digits = String(count);
  return digits.length < 4 ? digits : `${withCommas(Number(digits.slice(0, -3)))},${digits.slice(-3)}`;
}

/** A share as a whole percentage: `62%`. */
export const percent = (share: number): string => `${Math.round(100 * share)}%`;

/** A size: `804 bytes`, `1.2 kB`, `104 kB`, `2 GB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return quantity(Math.round(bytes), 'byte');
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.5 && unit < SIZES.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${SIZES[unit]}`;
}

const SIZES = ['kB', 'MB', 'GB', 'TB'];

/** US dollars: `$0`, `$0.0123`, `$12.30`. */
export const dollarText = (dollars: number): string =>
  dollars === 0 ? '$0' : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;

/** The text as the beginning of a sentence. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration as the configuration writes it: `"90s"`, `"5m"`, `"1h30m"`. */
export const DURATION = '(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d))+';

/**
 * The milliseconds of a duration such as `90s`, `1h30m` or `1.574s`, rounded up; null for any other text, and for zero.
 */
export function milliseconds(duration: string): number | null {
  let total = 0;
  for (const [, amount = '', unit = ''] of duration.matchAll(/([\d.]{1,20})(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNITS[unit] ?? 0);
  }
  return total > 0 ? Math.ceil(total) : null;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A time as the user reads it: `Tue 3 Mar 2026 21:05`, by the clock of this machine. */
export function localTime(at: string): string {
  const time = asShownHere(new Date(at));
  const clock = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`;
  return `${DAYS[time.getUTCDay()]} ${time.getUTCDate()} ${MONTHS[time.getUTCMonth()]} ${time.getUTCFullYear()} ${clock}`;
}

/**
 * A time by the clock of this machine: `2026-11-22 13:27`. With `now`, for a reader at that moment, the day is `today`
 * or `yesterday` where it is. A text that is not a time stays as it is.
 */
export function localMinute(at: string, now: Date | null = null): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return `${(now === null ? null : nearDay(time, now)) ?? dateOf(time)} ${clock}`;
}

function nearDay(time: Date, now: Date): string | null {
  if (dateOf(time) === dateOf(now)) return 'today';
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return dateOf(time) === dateOf(yesterday) ? 'yesterday' : null;
}

const dateOf = (time: Date): string =>
  `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

const two = (number: number): string => String(number).padStart(2, '0');

/**
 * A number of tokens as it stands in a list of models: `8192`, `"8,192"`, `8192.0`, `"32.8k"`. Null for anything else.
 */
export function tokenCount(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.floor(value) : null;
  if (typeof value !== 'string') return null;
  const text = wholeNumbers(value.trim().toLowerCase());
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * The lower-case text with its numbers as digits alone: without separators or a fraction, and multiplied where a letter
 * says so. What has a letter or a hyphen before it is part of a name.
 */
export function wholeNumbers(text: string): string {
  return text
    .replaceAll(/(?<=\d)[,_](?=\d{3})/g, '')
    .replaceAll(/(?<![\w.-])(\d{1,9}(?:\.\d{1,9})?) ?([km])\b/g, (_all, count: string, unit: string) =>
      String(Math.floor(Number(count) * (unit === 'k' ? 1000 : 1_000_000))),
    )
    .replaceAll(/(?<![\w.-])(\d{1,3})\.(\d{3})(?!\w|\.\d)/g, '$1$2')
    .replaceAll(/(?<![\w.-])(\d{1,15})\.\d{1,9}(?!\w|\.\d)/g, '$1');
}
