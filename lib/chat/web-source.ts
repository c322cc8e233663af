import { isJsonObject } from './json.js';

/** A web page that an answer cites, or that was read for it. */
export interface Source {
  /** `http` or `https`, without white space or control characters. */
  readonly url: string;
  /** One line. */
  readonly title?: string;
  /**
   * The passages of the answer that rest on it, in their order, each on one line; absent if the server does not say.
   */
  readonly cited?: readonly string[];
}

/** The longest passage to keep, in characters. */
const LONGEST_CITED = 500;

const lineOf = (text: unknown): string => (typeof text === 'string' ? text.replace(/[\s\p{Cc}]+/gu, ' ').trim() : '');

/** A source as a server names it, with a passage that rests on it; null if it is not a web address. */
export function asSource(url: unknown, title?: unknown, passage?: unknown): Source | null {
  if (typeof url !== 'string' || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(url)) return null;
  const [name, words] = [lineOf(title), lineOf(passage).slice(0, LONGEST_CITED)];
  return { url, ...(name !== '' && { title: name }), ...(words !== '' && { cited: [words] }) };
}

/** Whether a stored value is a source. */
export function isSource(stored: unknown): stored is Source {
  if (!isJsonObject(stored) || asSource(stored.url)?.url !== stored.url) return false;
  const { title = '', cited = [] } = stored;
  return typeof title === 'string' && Array.isArray(cited) && cited.every((one) => typeof one === 'string');
}

/** The valid sources in a server's list. */
export function asSources(
  list: readonly (readonly [url: unknown, title?: unknown, passage?: unknown])[],
): readonly Source[] {
  return list.flatMap(([url, title, passage]) => asSource(url, title, passage) ?? []);
}

/**
 * The first list, followed by what only the second one has; the passages of a page in both are joined. The order of the
 * first one stays, because an answer may cite its sources by number.
 */
export function joinSources(known: readonly Source[], more: readonly Source[]): readonly Source[] {
  const joined = new Map(known.map((source) => [source.url, source]));
  for (const source of more) {
    const before = joined.get(source.url);
    const cited = [...new Set([...(before?.cited ?? []), ...(source.cited ?? [])])];
    joined.set(source.url, before === undefined ? source : { ...before, ...(cited.length > 0 && { cited }) });
  }
  return known.length === joined.size && known.every((source) => joined.get(source.url) === source)
    ? known
    : [...joined.values()];
}

/** The list with each page once. */
export function uniqueSources(sources: readonly Source[]): readonly Source[] {
  return joinSources([], sources);
}

/** A numbered list of sources as plain text, without a final newline. */
export function sourceText(sources: readonly Source[]): string {
  return sources
    .map(({ url, title }, at) => `  ${at + 1}. ${title === undefined ? '' : `${title}  `}${url}`)
    .join('\n');
}

/** The same list as Markdown. */
export function sourceMarkdown(sources: readonly Source[]): string {
  return sources
    .map(({ url, title }, at) => {
      const link = bracketed(url);
      return `${at + 1}. ${title === undefined ? link : `[${title.replace(/[[\]\\]/g, '\\$&')}](${link})`}`;
    })
    .join('\n');
}

const bracketed = (url: string): string => `<${url.replaceAll('>', '%3E').replaceAll('<', '%3C')}>`;

/** A place in a text behind a passage, and the numbers of the sources that it rests on, counted from 1. */
export interface Citation {
  readonly at: number;
  readonly numbers: readonly number[];
}

/**
 * Where a text rests on its sources, in order. A source whose address the text names needs no mark, and a mark in a
 * block of code would be part of the code.
 */
export function citationsIn(text: string, sources: readonly Source[]): readonly Citation[] {
  const marked = sources.flatMap(({ url, cited = [] }, at) =>
    cited.length === 0 || text.includes(url) ? [] : [{ cited, number: at + 1 }],
  );
  if (marked.length === 0) return [];
  const flat = new FlatText(text);
  const places = new Map<number, number[]>();
  for (const { cited, number } of marked)
    for (const at of flat.endsOf(cited)) places.set(at, [...new Set([...(places.get(at) ?? []), number])]);
  return [...places].map(([at, numbers]) => ({ at, numbers })).sort((one, other) => one.at - other.at);
}

/**
 * The text with the numbers of its sources behind each passage, such as `It is cold. [1][2]`. `mark`: how a number is
 * written.
 */
export function withCitations(text: string, sources: readonly Source[], mark = numberMark): string {
  let [marked, from] = ['', 0];
  for (const { at, numbers } of citationsIn(text, sources)) {
    marked += `${text.slice(from, at)} ${numbers.map(mark).join('')}`;
    from = at;
  }
  return marked + text.slice(from);
}

export const numberMark = (number: number): string => `[${number}]`;

/** The same as a link, in Markdown. */
export const numberLink = (number: number, sources: readonly Source[]): string =>
  `[${numberMark(number)}](${bracketed(sources[number - 1]?.url ?? '')})`;

/** A text as passages are kept, on one line. */
class FlatText {
  readonly #text: string;
  readonly #flat: string;
  /** Where each character of the line ends in the text. */
  readonly #ends: readonly number[];
  readonly #code: readonly (readonly [from: number, to: number])[];

  constructor(text: string) {
    const [pieces, ends]: [string[], number[]] = [[], []];
    for (const { 0: found, index } of text.matchAll(/[\s\p{Cc}]+|[^\s\p{Cc}]+/gu)) {
      const isGap = /^[\s\p{Cc}]/u.test(found);
      pieces.push(isGap ? ' ' : found);
      if (isGap) ends.push(index + found.length);
      else for (let at = 1; at <= found.length; at += 1) ends.push(index + at);
    }
    [this.#text, this.#flat, this.#ends, this.#code] = [text, pieces.join(''), ends, codeIn(text)];
  }

  /** Where passages end in the text, which follow each other in it. One that is not in it, or in code, is left out. */
  endsOf(passages: readonly string[]): readonly number[] {
    let from = 0;
    return passages.flatMap((passage) => {
      const later = this.#flat.indexOf(passage, from);
      const at = later === -1 ? this.#flat.indexOf(passage) : later;
      if (at === -1 || passage === '') return [];
      from = at + passage.length;
      const end = this.#behind(this.#ends[from - 1] ?? 0, passage.length >= LONGEST_CITED);
      return this.#code.some(([begin, close]) => end > begin && end < close) ? [] : [end];
    });
  }

  /** The end of the line for a passage that was cut; else behind the marks that close it, as of emphasis. */
  #behind(end: number, isCut: boolean): number {
    if (!isCut) return end + (/^[*_~`)\]"'”’»]*/.exec(this.#text.slice(end, end + 8))?.[0].length ?? 0);
    const newline = this.#text.indexOf('\n', end);
    return newline === -1 ? this.#text.trimEnd().length : newline;
  }
}

/** The blocks of code in a text, from fence to fence. */
function codeIn(text: string): readonly (readonly [from: number, to: number])[] {
  const fences = [...text.matchAll(/^ {0,3}(?:```|~~~)/gm)].map(({ index }) => index);
  return fences.flatMap((from, at) => (at % 2 === 0 ? [[from, fences[at + 1] ?? text.length + 1] as const] : []));
}
