import MarkdownIt, { type Env, type RendererRule, type Token } from 'markdown-it';
import { codeBlock, type LoadedHighlighters, languageIn, loadHighlighters } from './code.js';
import { escaped } from './escape.js';
import { math } from './math.js';

/** Longer texts are shown as plain text: no answer is that long, and the browser would be slow. */
const LONGEST = 500_000;

/** The heading level of a message. Headings inside it are lower. */
const OUTER_LEVEL = 3;

/**
 * Markdown as HTML. HTML in it is shown as text, links can only point to web and mail addresses, and pictures on the web become links.
 * No heading skips a level, as screen readers expect.
 */
export async function markdownHtml(text: string): Promise<string> {
  if (text.length > LONGEST) return `<p class="typed">${escaped(text)}</p>`;
  const tokens = markdown.parse(text, {});
  const languages = tokens.filter(({ type }) => type === 'fence').map(({ info }) => languageIn(info));
  const find = await loadHighlighters([...new Set(languages)]);
  arrange(tokens);
  const env: Env = { find };
  return markdown.renderer.render(tokens, markdown.options, env);
}

function createMarkdown() {
  const made = new MarkdownIt({ html: false, linkify: true, breaks: true });
  made.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  made.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url);
  // The text of a link is shown as written: host names are not converted to another alphabet.
  made.normalizeLinkText = (url) => url;
  made.inline.ruler.before('escape', 'math', math);
  Object.assign(made.renderer.rules, RULES);
  return made;
}

const RULES: Readonly<Record<string, RendererRule>> = {
  math: (tokens, at) => `<span class="math">${escaped(tokens[at]?.content ?? '')}</span>`,
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
