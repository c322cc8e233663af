import { isJsonObject } from './json.js';

/** A web page that an answer cites. */
export interface Source {
  /** `http` or `https`, without white space or control characters. */
  readonly url: string;
  /** One line. */
  readonly title?: string;
}

/** A source as a server names it; null if it is not a web address. */
export function asSource(url: unknown, title?: unknown): Source | null {
  if (typeof url !== 'string' || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(url)) return null;
  const line = typeof title === 'string' ? title.replace(/[\s\p{Cc}]+/gu, ' ').trim() : '';
  return line === '' ? { url } : { url, title: line };
}

/** Whether a stored value is a source. */
export function isSource(stored: unknown): stored is Source {
  return isJsonObject(stored) && asSource(stored.url)?.url === stored.url && typeof (stored.title ?? '') === 'string';
}

/** The valid sources in a server's list. */
export function asSources(list: readonly (readonly [url: unknown, title?: unknown])[]): readonly Source[] {
  return list.flatMap(([url, title]) => asSource(url, title) ?? []);
}

/** The first list, followed by what only the second one has. The order of the first one stays, because an answer may cite its sources by number. */
export function joinSources(known: readonly Source[], more: readonly Source[]): readonly Source[] {
  if (known.length === 0) return more;
  const others = more.filter(({ url }) => !known.some((one) => one.url === url));
  return others.length === 0 ? known : [...known, ...others];
}

/** The list with each page once. */
export function uniqueSources(sources: readonly Source[]): readonly Source[] {
  return sources.filter(({ url }, at) => sources.findIndex((one) => one.url === url) === at);
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
      const link = `<${url.replaceAll('>', '%3E').replaceAll('<', '%3C')}>`;
      return `${at + 1}. ${title === undefined ? link : `[${title.replace(/[[\]\\]/g, '\\$&')}](${link})`}`;
    })
    .join('\n');
}
