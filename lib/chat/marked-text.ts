/**
 * Somebody's text in a block whose tag and attributes say where it comes from. Nothing in it can end the block or pass
 * for another one: the tag gets a number that neither the text nor the attributes contain.
 */
export function textBlock(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const start = given.join('');
  const tag = unusedTag(name, `${start}\n${text}`);
  return `<${tag}${start}>\n${text}${text.endsWith('\n') ? '' : '\n'}</${tag}>`;
}

function unusedTag(name: string, text: string): string {
  const used = new Set<string>();
  for (const [, found = '', number = ''] of text.matchAll(TAG))
    if (found.toLowerCase() === name) used.add(number.replace(/^0+/, ''));
  if (!used.has('')) return name;
  let number = 2;
  while (used.has(String(number))) number += 1;
  return `${name}-${number}`;
}

/** A tag as a model may read one. */
const TAG = /<\s{0,8}\/?\s{0,8}([a-z]{1,20})(?:-(\d{1,9}))?\b/gi;

/** A file's text as the model gets it. */
export const fileBlock = (name: string, text: string): string => textBlock('file', { name }, text);

/** The name and the text of a file in such a block, with the newline before its end; null for any other text. */
export function readFileBlock(text: string): { readonly name: string; readonly text: string } | null {
  const [start, tag = '', quoted = ''] = /^<(file(?:-\d{1,9})?) name=("(?:[^"\\\n]|\\[^\n])*")>\n/.exec(text) ?? [];
  const end = `\n</${tag}>`;
  if (start === undefined || text.length < start.length + end.length - 1 || !text.endsWith(end)) return null;
  try {
    return { name: String(JSON.parse(quoted)), text: text.slice(start.length, 1 - end.length) };
  } catch {
    return null;
  }
}

/** A fenced block of code in an answer. */
export interface CodeBlock {
  /** What the fence says behind its marks, such as the language; may be empty. */
  readonly info: string;
  /** What is between the fences, without the indentation of the fence and without the last newline. */
  readonly code: string;
}

/**
 * The fenced blocks of an answer, also of one that was cut off inside its last block. Fences may be indented, as in
 * lists, and in quotations.
 */
export function codeBlocks(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: OpenBlock | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (open === null) open = openingFence(line);
    else if (isClosing(line, open)) {
      blocks.push(closed(open));
      open = null;
    } else open.lines.push(withoutPrefix(line, open));
  }
  if (open?.lines.some((line) => line !== '')) blocks.push(closed(open));
  return blocks;
}

interface OpenBlock {
  readonly quote: string;
  readonly indent: number;
  readonly marks: string;
  readonly info: string;
  readonly lines: string[];
}

/** Blanks, marks of quotations, and marks of lists, whose item may begin with a fence. */
const PREFIX = /^((?:[ \t]{0,12}>)*)([ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)/;

function openingFence(line: string): OpenBlock | null {
  const [prefix = '', quote = '', indent = ''] = PREFIX.exec(line) ?? [];
  const [, marks, info = ''] = /^(`{3,}|~{3,})([\s\S]*)$/.exec(line.slice(prefix.length)) ?? [];
  if (marks === undefined || (marks.startsWith('`') && info.includes('`'))) return null;
  return { quote, indent: indent.length, marks, info: info.trim(), lines: [] };
}

function isClosing(line: string, { quote, marks }: OpenBlock): boolean {
  const rest = (quote === '' ? line : line.replace(/^(?:[ \t]{0,12}>)*/, '')).trim();
  return rest.length >= marks.length && rest === (marks[0] ?? '').repeat(rest.length);
}

/** The line without the marks of the quotation and at most as many blanks as the fence has before it. */
function withoutPrefix(line: string, { quote, indent }: OpenBlock): string {
  const inner = quote === '' ? line : line.replace(/^(?:[ \t]{0,12}>)*/, '');
  const blanks = /^[ \t]*/.exec(inner)?.[0].length ?? 0;
  return inner.slice(Math.min(blanks, indent));
}

const closed = ({ info, lines }: OpenBlock): CodeBlock => ({ info, code: lines.join('\n') });

/**
 * A text without its elements, such as `<recalled>…</recalled>`, each replaced by `replacement`. `opening` matches
 * their beginning, with the name as its group. Linear: a name that is not closed is looked for once.
 */
export function withoutElements(text: string, opening: RegExp, replacement: string): string {
  const unclosed = new Set<string>();
  let kept = '';
  let from = 0;
  for (const { 0: begin, 1: name = '', index } of text.matchAll(opening)) {
    if (index < from || unclosed.has(name)) continue;
    const closing = `</${name}>`;
    const end = text.indexOf(closing, index + begin.length);
    if (end === -1) {
      unclosed.add(name);
      continue;
    }
    kept += text.slice(from, index) + replacement;
    from = end + closing.length;
  }
  return kept + text.slice(from);
}

/**
 * The ids of messages after a statement: `[#12]` or `[#12 #15]`, and the variants that models write. A Markdown link
 * does not match.
 */
const CITATION = /\[#\d(?:[\d#,;&– -]|and)*\](?!\()/g;
/** The same with the space before it and the sign that ends the sentence. */
const CITED = / ?(\[#\d(?:[\d#,;&– -]|and)*\])(?!\()[.,;:!?。，；]?/g;

/** So many ids are kept of one citation. */
const MOST = 8;

/** The ids that a text cites, each once, in order. */
export function citedIn(text: string): readonly number[] {
  return [...new Set(Array.from(text.matchAll(CITATION), ([citation]) => idsOf(citation)).flat())];
}

/** These ids as a citation behind a text; nothing for none. */
export function citing(text: string, ids: readonly number[] = []): string {
  return ids.length === 0 ? text : `${text} ${citationOf(ids)}`;
}

/** The text with its citations in one form, without ids that do not exist and the citations that are empty then. */
export function citingOnly(text: string, exists: (id: number) => boolean): string {
  const left = citingAs(text, (id) => (exists(id) ? id : null));
  // What is left may come together to another one.
  return left === text ? text : citingOnly(left, exists);
}

/**
 * The text with its citations in one form and other ids in them, without those that have none and the citations that
 * are empty then.
 */
export function citingAs(text: string, newId: (id: number) => number | null): string {
  return text.replace(CITED, (all, citation: string) => {
    const ids = idsOf(citation).flatMap((id) => newId(id) ?? []);
    const end = all.slice(all.indexOf(citation) + citation.length);
    return ids.length === 0 ? end : `${all.startsWith(' ') ? ' ' : ''}${citationOf([...new Set(ids)])}${end}`;
  });
}

/** The text with other brackets around what looks like a citation and is somebody's words. */
export function withoutLookalikes(text: string): string {
  return text.replace(CITATION, (citation) => `(${citation.slice(1, -1)})`);
}

/** What a text states, piece by piece: up to the ids behind it, or to the end of the line. */
export function statementsOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const pieces: string[] = [];
    let from = 0;
    for (const { 0: citation, index } of line.matchAll(CITED)) {
      pieces.push(line.slice(from, index + citation.length));
      from = index + citation.length;
    }
    return [...pieces, line.slice(from)].map((piece) => piece.trim()).filter((piece) => piece !== '');
  });
}

const citationOf = (ids: readonly number[]): string => `[${ids.map((id) => `#${id}`).join(' ')}]`;

function idsOf(citation: string): readonly number[] {
  const ids = Array.from(citation.matchAll(/\d{1,16}/g), ([digits]) => Number(digits));
  return [...new Set(ids)].slice(0, MOST);
}
