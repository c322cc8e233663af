import MarkdownIt, { type Env, type RendererRule, type StateBlock, type StateInline, type Token } from 'markdown-it';
import type { Highlighter } from '../screen/markdown/languages.js';
import { loadHighlighter } from '../screen/markdown/languages.js';
import { neutralise } from '../screen/text/neutralise.js';
import { BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, RED, type Style, YELLOW } from '../screen/text/styled-text.js';
import { type Formula, findFormulas } from './find-formulas.js';
import { Formulas } from './formula-html.js';

/** Longer texts are shown as plain text: no answer is that long, and the browser would be slow. */
const LONGEST = 500_000;

/** The heading level of a message. Headings inside it are lower. */
const OUTER_LEVEL = 3;

/**
 * Markdown as HTML. HTML in it is shown as text, links can only point to web and mail addresses, and pictures on the
 * web become links. No heading skips a level, as screen readers expect.
 */
export async function markdownHtml(text: string): Promise<string> {
  if (text.length > LONGEST) return `<p class="typed">${escaped(text)}</p>`;
  const tokens = markdown.parse(text, {});
  const languages = tokens.filter(({ type }) => type === 'fence').map(({ info }) => languageIn(info));
  const find = await loadHighlighters([...new Set(languages)]);
  arrange(tokens);
  const env: Env = { find, formulas: new Formulas() };
  return markdown.renderer.render(tokens, markdown.options, env);
}

function createMarkdown() {
  const made = new MarkdownIt({ html: false, linkify: true, breaks: true });
  made.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  made.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url);
  // The text of a link is shown as written: host names are not converted to another alphabet.
  made.normalizeLinkText = (url) => url;
  findFormulas(made);
  made.inline.ruler.before('link', 'footnote', footnoteMark);
  made.block.ruler.before('reference', 'footnote', footnote);
  Object.assign(made.renderer.rules, RULES);
  return made;
}

const RULES: Readonly<Record<string, RendererRule>> = {
  footnote: (tokens, at) => `<sup>${escaped(tokens[at]?.content ?? '')}</sup>`,
  math: (tokens, at, _options, env) => formula(tokens[at] as Token, env?.formulas as Formulas),
  math_block: (tokens, at, _options, env) =>
    `<p class="formula" tabindex="0">${formula(tokens[at] as Token, env?.formulas as Formulas)}</p>\n`,
  fence: (tokens, at, _options, env) => fence(tokens[at] as Token, env?.find as LoadedHighlighters),
  code_block: (tokens, at) => codeBlock(tokens[at]?.content ?? '', null),
  link_open: (tokens, at) => {
    const { meta } = tokens[at] as Token;
    const url = String((tokens[at] as Token).attrGet('href') ?? '');
    return meta?.isEmpty ? linkStart(url) + escaped(url) : linkStart(url);
  },
  image: (tokens, at) => {
    const { meta, children } = tokens[at] as Token;
    const words = textOf(children);
    if (meta?.isInLink) return escaped(words);
    const url = String((tokens[at] as Token).attrGet('src') ?? '');
    return `${linkStart(url)}${escaped(words.trim() === '' ? url : words)}</a>`;
  },
  table_open: () => '<div class="table" tabindex="0"><table>\n',
  table_close: () => '</table></div>\n',
  th_open: (tokens, at) => cellStart(tokens[at] as Token),
  td_open: (tokens, at) => cellStart(tokens[at] as Token),
};

const markdown = createMarkdown();

/** A formula that cannot be read is shown as written. */
function formula({ content, meta }: Token, formulas: Formulas): string {
  return formulas.html(meta as unknown as Formula) ?? `<span class="math">${escaped(content)}</span>`;
}

function fence({ content, info }: Token, find: LoadedHighlighters): string {
  const language = languageIn(info);
  const label = /^[\w+#.-]{1,20}$/.test(language) ? language : '';
  return `${codeBlock(content, find(language), label)}\n`;
}

/** The start of a link. The linked page does not learn where it was clicked. */
export function linkStart(url: string): string {
  return `<a href="${escaped(url)}" rel="noreferrer nofollow">`;
}

/** markdown-it aligns cells with a style attribute, which the page's policy forbids. */
function cellStart({ tag, attrs }: Token): string {
  const align = /right|center/.exec(String(attrs?.find(([name]) => name === 'style')?.[1]))?.[0];
  return align === undefined ? `<${tag}>` : `<${tag} class="${align}">`;
}

/** Sets the levels of headings. Empty ones, which confuse screen readers, become paragraphs or plain cells. */
function arrange(tokens: readonly Token[]): void {
  let level = OUTER_LEVEL;
  tokens.forEach((token, at) => {
    if (token.type === 'inline') arrangeLinks(token.children ?? []);
    if (token.type === 'list_item_open') showBox(tokens[at + 2]?.children?.[0]);
    const close = tokens[at + 2];
    if (close === undefined || (token.type !== 'heading_open' && token.type !== 'th_open')) return;
    const isEmpty = textOf(tokens[at + 1]?.children).trim() === '';
    if (token.type === 'th_open') token.tag = close.tag = isEmpty ? 'td' : 'th';
    else if (isEmpty) token.tag = close.tag = 'p';
    else {
      level = Math.min(6, level + 1, OUTER_LEVEL + Number(token.tag.slice(1)));
      token.tag = close.tag = `h${level}`;
    }
  });
}

const BOXES: Readonly<Record<string, string>> = { '[ ] ': '☐ ', '[x] ': '☑ ', '[X] ': '☑ ' };

/** Shows the box of a task as one. */
function showBox(text: Token | undefined): void {
  const box = BOXES[text?.content.slice(0, 4) ?? ''];
  if (text?.type === 'text' && box !== undefined) text.content = box + text.content.slice(4);
}

/** Marks links without text, and pictures inside links. */
function arrangeLinks(tokens: readonly Token[]): void {
  let start = -1;
  tokens.forEach((token, at) => {
    if (token.type === 'link_open') start = at;
    else if (token.type === 'image') token.meta = { isInLink: start !== -1 };
    else if (token.type === 'link_close' && start !== -1) {
      const open = tokens[start] as Token;
      open.meta = { isEmpty: textOf(tokens.slice(start + 1, at)).trim() === '' };
      start = -1;
    }
  });
}

/** The words of a line. */
function textOf(tokens: readonly Token[] | null | undefined): string {
  return (tokens ?? []).map(({ type, content, children }) => (type === 'image' ? textOf(children) : content)).join('');
}

const FOOTNOTE = /\[\^([\w-]{1,20})\]/y;

/** `[^1]`, in a text and before the footnote itself. */
function footnoteMark(state: StateInline, silent: boolean): boolean {
  FOOTNOTE.lastIndex = state.pos;
  const found = FOOTNOTE.exec(state.src);
  if (found === null) return false;
  if (!silent) state.push('footnote', 'sup', 0).content = found[1] ?? '';
  state.pos += found[0].length;
  if (found.index === 0 && state.src.startsWith(': ', state.pos)) state.pos += 1;
  return true;
}

/**
 * A footnote is a paragraph: Markdown would take one that begins with an address for a reference, and show nothing of
 * it.
 */
function footnote(state: StateBlock, line: number, _end: number, silent: boolean): boolean {
  const text = state.getLines(line, line + 1, state.blkIndent, false);
  if (!/^\[\^[\w-]{1,20}\]: \S/.test(text)) return false;
  if (silent) return true;
  state.push('paragraph_open', 'p', 1);
  const inline = state.push('inline', '', 0);
  inline.content = text.trim();
  inline.children = [];
  state.push('paragraph_close', 'p', -1);
  state.line = line + 1;
  return true;
}

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
type LoadedHighlighters = (language: string) => Highlighter | null;

const loaded = new Map<string, (() => Highlighter) | null>();

/** Loads the highlighters of these languages. No others are found. */
async function loadHighlighters(languages: readonly string[]): Promise<LoadedHighlighters> {
  const missing = languages.filter((language) => !loaded.has(language));
  if (missing.length > 0) {
    for (const language of missing) loaded.set(language, await loadHighlighter(language));
  }
  return (language) => loaded.get(language)?.() ?? null;
}

/** The language of a code fence, from its info string. */
function languageIn(info: string): string {
  return info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? '';
}

/** A code block, with `label` in its corner. */
function codeBlock(code: string, highlighter: Highlighter | null, label = ''): string {
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

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text escaped for HTML, including attributes in double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * HTML without bidi controls and without characters that a terminal or an editor would obey. Applied to finished HTML,
 * because Markdown can spell any character as an entity.
 */
export function harmless(html: string): string {
  return neutralise(html);
}
