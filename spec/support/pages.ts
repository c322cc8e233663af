import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import type { Entry } from '../../lib/chat/entry.js';
import type { Part } from '../../lib/chat/message.js';
import { conversationPage } from '../../lib/page/conversation-page.js';

/** The time of the specs. */
export const NOW = new Date('2026-11-22T10:00:00Z');

/** A whole page. `attachments` are the bytes by SHA-256. */
export async function pageOf(
  entries: readonly Entry[],
  attachments: Readonly<Record<string, Uint8Array>> = {},
): Promise<string> {
  let html = '';
  const read = async (sha256: string): Promise<Uint8Array | null> => attachments[sha256] ?? null;
  for await (const piece of conversationPage({ entries, read, now: NOW })) html += piece;
  return html;
}

/** A message of a history. */
export function message(
  id: number,
  role: 'user' | 'assistant' | 'tool',
  content: string | readonly Part[],
  more: object = {},
): Entry {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return { id, turn: id, at: '2026-11-22T09:30:00.000Z', role, content: parts, cwd: '/', ...more };
}

/** An element as a browser without scripts reads it. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text in it. */
  readonly text: string;
  readonly children: readonly Element[];
}

/** All elements of a page, in order, parsed as browsers do. */
export function elementsOf(html: string): readonly Element[] {
  const found: Element[] = [];
  const visit = (node: Tree.Node): { readonly text: string; readonly element: Element | null } => {
    if (node.nodeName === '#text') return { text: (node as Tree.TextNode).value, element: null };
    if (!('childNodes' in node)) return { text: '', element: null };
    const place = found.length;
    if ('tagName' in node) found.push({ name: '', attributes: {}, text: '', children: [] });
    const inner = node.childNodes.map(visit);
    const text = inner.map((one) => one.text).join('');
    if (!('tagName' in node)) return { text, element: null };
    const attributes = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
    const children = inner.flatMap(({ element }) => element ?? []);
    const element = { name: node.tagName, attributes, text, children };
    found[place] = element;
    return { text, element };
  };
  visit(parse(html, { scriptingEnabled: false }));
  return found;
}

/** The elements with a class. */
export function withClass(elements: readonly Element[], name: string): readonly Element[] {
  return elements.filter(({ attributes }) => attributes.class?.split(' ').includes(name));
}

const WORD = /^[a-z-]+$/;
const LENGTH = /^[+-]?[\d.]+(?:em|ex|pt|px|mm|cm|in|mu)?$/;

/** What an element of a formula may have. */
const MATH: Readonly<Record<string, RegExp>> = {
  display: /^block$/,
  displaystyle: WORD,
  encoding: /^application\/x-tex$/,
  scriptlevel: /^[+-]?\d$/,
  mathvariant: WORD,
  class: /^[a-z -]+$/,
  ...Object.fromEntries(
    ['fence', 'form', 'stretchy', 'symmetric', 'separator', 'accent', 'accentunder', 'largeop', 'movablelimits'].map(
      (name) => [name, WORD],
    ),
  ),
  ...Object.fromEntries(
    `lspace rspace minsize maxsize width height depth voffset linethickness mathsize`
      .split(' ')
      .map((name) => [name, LENGTH]),
  ),
};

/** Every attribute that an element of a page may have, with what it may hold. */
const ALLOWED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  html: { lang: /^en$/ },
  head: {},
  meta: { charset: /^utf-8$/, 'http-equiv': /^Content-Security-Policy$/, name: /^[a-z]+$/, content: /^[^<>"]*$/ },
  title: {},
  style: {},
  script: {},
  noscript: {},
  body: {},
  header: {},
  footer: {},
  main: {},
  div: { class: /^(?:bar|part|body|table|sources)$/, id: /^tools$/, role: /^search$/, hidden: /^$/, tabindex: /^0$/ },
  output: { id: /^found$/ },
  input: {
    id: /^search$/,
    type: /^search$/,
    placeholder: /^Search$/,
    'aria-label': /^Search$/,
    autocomplete: /^off$/,
    spellcheck: /^false$/,
  },
  button: { id: /^(?:previous|next|theme)$/, type: /^button$/, title: /^[\w ]+$/, disabled: /^$/ },
  select: { id: /^day$/, 'aria-label': /^Go to a day$/ },
  option: {},
  span: {
    id: /^count$/,
    'aria-hidden': /^true$/,
    class: /^(?:keyword|string|comment|number|type|name|deleted|math)$/,
  },
  section: { 'data-month': /^(?:\w{3} \d{4})?$/ },
  h1: {},
  h2: { tabindex: /^-1$/ },
  h3: {},
  h4: {},
  h5: {},
  h6: {},
  article: { id: /^m\d+$/, 'data-turn': /^\d+$/, class: /^(?:user|assistant|tool)$/ },
  time: { datetime: /^/ },
  a: { href: /^(?:https?:\/\/|mailto:|#m\d+$)/i, rel: /^noreferrer nofollow$/ },
  p: { class: /^(?:mark|note|typed|formula)$/, tabindex: /^0$/, 'data-undone': /^[\d ]+$/, 'data-redone': /^[\d ]+$/ },
  details: { class: /^(?:mark|call|result|failed|command|file)$/ },
  summary: {},
  pre: { class: /^code$/, tabindex: /^0$/, 'data-language': /^[\w+#.-]{1,20}$/ },
  figure: {},
  img: {
    alt: /^/,
    width: /^\d+$/,
    height: /^\d+$/,
    decoding: /^async$/,
    src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/,
  },
  ol: { start: /^\d+$/ },
  td: { class: /^(?:right|center)$/ },
  th: { class: /^(?:right|center)$/ },
  ...Object.fromEntries(
    ['ul', 'li', 'blockquote', 'hr', 'br', 'em', 'strong', 's', 'sup', 'code', 'table', 'thead', 'tbody', 'tr'].map(
      (name) => [name, {}],
    ),
  ),
  ...Object.fromEntries(
    `math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover
    mmultiscripts mprescripts none mtable mtr mtd mpadded mphantom mstyle menclose`
      .split(/\s+/)
      .map((name) => [name, MATH]),
  ),
};

/** The elements and attributes of a page that it must not have. */
export function forbiddenIn(elements: readonly Element[]): readonly string[] {
  return elements.flatMap(({ name, attributes }) => {
    const allowed = ALLOWED[name];
    if (allowed === undefined) return [`<${name}>`];
    return Object.entries(attributes)
      .filter(([key, value]) => !allowed[key]?.test(value))
      .map(([key, value]) => `<${name} ${key}="${value}">`);
  });
}
