import type { Highlighter } from '../screen/markdown/languages.js';
import { BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, RED, type Style, YELLOW } from '../screen/text/styled-text.js';
import { escaped } from './escape.js';

/** The CSS class for each colour of highlighted code. */
const CLASSES: Readonly<Record<Style, string>> = {
  [MAGENTA]: 'keyword',
  [GREEN]: 'string',
  [DIM]: 'comment',
  [YELLOW]: 'number',
  [CYAN]: 'type',
  [BLUE]: 'name',
  [BOLD]: 'name',
  [RED]: 'deleted',
};

/** Longer code, and longer lines, are not highlighted, as in the terminal. */
const LONGEST_CODE = 200_000;
const LONGEST_LINE = 1000;

/** Makes a highlighter for a language; null if the language is unknown. */
export type LoadedHighlighters = (language: string) => Highlighter | null;

const loaded = new Map<string, (() => Highlighter) | null>();

/** Loads the highlighters of these languages. No others are found. */
export async function loadHighlighters(languages: readonly string[]): Promise<LoadedHighlighters> {
  const missing = languages.filter((language) => !loaded.has(language));
  if (missing.length > 0) {
    const { loadHighlighter } = await import('../screen/markdown/languages.js');
    for (const language of missing) loaded.set(language, await loadHighlighter(language));
  }
  return (language) => loaded.get(language)?.() ?? null;
}

/** The language of a code fence, from its info string. */
export function languageIn(info: string): string {
  return info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? '';
}

/** A code block, with `label` in its corner. */
export function codeBlock(code: string, highlighter: Highlighter | null, label = ''): string {
  const text = code.replace(/\n$/, '');
  const isColoured = highlighter !== null && text.length <= LONGEST_CODE;
  const lines = isColoured ? text.split('\n').map((line) => coloured(line, highlighter)) : [escaped(text)];
  const language = label === '' ? '' : ` data-language="${escaped(label)}"`;
  // The browser would drop a newline right after the tag.
  return `<pre class="code" tabindex="0"${language}><code>${lines.join('\n')}</code></pre>`;
}

function coloured(line: string, highlighter: Highlighter): string {
  if (line.length > LONGEST_LINE) return escaped(line);
  let html = '';
  highlighter(line, (text, style) => {
    const name = CLASSES[style];
    html += name === undefined ? escaped(text) : `<span class="${name}">${escaped(text)}</span>`;
  });
  return html;
}
