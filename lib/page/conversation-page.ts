import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  type UnknownEntry,
} from '../chat/entry.js';
import { isJsonObject, type JsonValue } from '../chat/json.js';
import { readFileBlock } from '../chat/marked-text.js';
import {
  commandIn,
  type ImagePart,
  type Message,
  type Part,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../chat/message.js';
import { firstCharacters, localMinute, localTime, quantity, sizeText } from '../chat/text.js';
import { recalledLine, shownParts, transcriptOf } from '../chat/transcript.js';
import { asSource, numberLink, type Source } from '../chat/web-source.js';
import { escaped, harmless, linkStart, markdownHtml } from './markdown-html.js';
import { POLICY, SCRIPT, STYLE } from './page-parts.js';

/** The content of a page. */
export interface PageContent {
  /** In the order in which they are shown. */
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly read: ReadAttachment;
  readonly now: Date;
}

/**
 * The conversation as one self-contained page with search, days, both themes and pictures. It is generated entry by
 * entry, so that the longest conversation takes no more memory than its largest message.
 */
export async function* conversationPage({ entries, read, now }: PageContent): AsyncGenerator<string> {
  yield HEAD;
  const parts = new Parts();
  for await (const entry of entries) {
    const html = await entryHtml(entry, read);
    if (html !== '') yield parts.before(entry, html.length) + html;
  }
  yield parts.end() + tail(now);
}

/** The size limits of a part. */
const LONGEST_PART = { entries: 40, characters: 400_000 };

/** Writes what comes between the entries of a page: the days, and their parts, which the browser unpacks one by one. */
class Parts {
  #day: string | null = null;
  #end = '';
  #entries = 0;
  #characters = 0;

  /** The HTML before an entry of this length. */
  before(entry: Entry, characters: number): string {
    // A mark does not start a day: a compaction may be written long after the messages around it.
    const day: string = 'type' in entry && this.#day !== null ? this.#day : dayOf(entry.at);
    const isNewDay = day !== this.#day;
    const isFull = this.#entries >= LONGEST_PART.entries || this.#characters >= LONGEST_PART.characters;
    let between = '';
    if (isNewDay || isFull) {
      between = this.#end;
      if (isNewDay) between += (this.#day === null ? '' : '</section>\n') + sectionStart(day, entry.at);
      // The first part is shown at once.
      const isPacked = this.#day !== null;
      between += isPacked ? '<div class="part"><noscript>\n' : '<div class="part">\n';
      this.#end = isPacked ? '</noscript></div>\n' : '</div>\n';
      this.#entries = this.#characters = 0;
    }
    this.#day = day;
    this.#entries += 1;
    this.#characters += characters;
    return between;
  }

  end(): string {
    return this.#day === null ? '<p>No messages.</p>\n' : `${this.#end}</section>\n`;
  }
}

/** The day in local time, as shown on the page. */
function dayOf(at: string): string {
  return isTime(at) ? localTime(at).slice(0, -' 00:00'.length) : at;
}

const isTime = (at: string): boolean => !Number.isNaN(Date.parse(at));

function sectionStart(day: string, at: string): string {
  const month = isTime(at) ? day.split(' ').slice(-2).join(' ') : '';
  return harmless(`<section data-month="${escaped(month)}">\n<h2 tabindex="-1">${escaped(day)}</h2>\n`);
}

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="hi">
<title>Conversation</title>
<style>${STYLE}</style>
</head>
<body>
<header><div class="bar">
<h1>Conversation</h1>
<div id="tools" role="search" hidden>
<output id="found"></output>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" spellcheck="false">
<button id="previous" type="button" title="Previous result" disabled><span aria-hidden="true">↑</span></button>
<button id="next" type="button" title="Next result" disabled><span aria-hidden="true">↓</span></button>
<select id="day" aria-label="Go to a day"><option>Go to a day…</option></select>
<button id="theme" type="button">Dark</button>
</div>
</div></header>
<main>
`;

const tail = (now: Date): string => `</main>
<footer><span id="count"></span>Exported by hi, ${localMinute(now.toISOString())}.</footer>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** An entry of the history as HTML; empty if it has nothing to show. */
async function entryHtml(entry: Entry, read: ReadAttachment): Promise<string> {
  if (isMessage(entry)) return await messageHtml(entry, read);
  return harmless(isCompressBlock(entry) ? await compactionHtml(entry) : markHtml(entry));
}

async function messageHtml(message: Message, read: ReadAttachment): Promise<string> {
  const { id, turn, role, sources, stop_reason } = message;
  const parts: string[] = [];
  const link = (number: number): string => numberLink(number, sources ?? []);
  for (const part of shownParts(message, link)) parts.push(await partHtml(part, role, read));
  if (sources?.length) parts.push(sourcesHtml(sources));
  if (stop_reason === 'interrupted') parts.push('<p class="note">interrupted</p>');
  const body = parts.filter((part) => part !== '').join('\n');
  if (body === '') return '';
  const heading = role === 'tool' ? '' : `${headingHtml(message)}\n`;
  return harmless(
    `<article id="m${id}" data-turn="${turn}" class="${role}">\n${heading}<div class="body">${body}</div>\n</article>\n`,
  );
}

function headingHtml({ id, role, at, model }: Message): string {
  const who = role === 'user' ? 'you' : (model ?? 'assistant');
  const minute = localMinute(at);
  const clock = /^\d{4,}-\d\d-\d\d \d\d:\d\d$/.test(minute) ? minute.slice(-5) : minute;
  return `<h3>${escaped(who)} <a href="#m${id}"><time datetime="${escaped(at)}">${escaped(clock)}</time></a></h3>`;
}

function sourcesHtml(sources: readonly Source[]): string {
  const items = sources.map(({ url, title }) => {
    const words = escaped(title ?? url);
    return asSource(url) === null ? `<li>${words}</li>` : `<li>${linkStart(url)}${words}</a></li>`;
  });
  return `<div class="sources"><p>Sources</p><ol>${items.join('')}</ol></div>`;
}

/** The line of a compaction and, folded under it, the summary that replaces the messages above. */
async function compactionHtml(block: CompressBlock): Promise<string> {
  const line = lineOf(block);
  if (block.content.trim() === '') return `<p class="mark">${line}</p>\n`;
  return `<details class="mark"><summary>${line}</summary>\n<div class="body">${await markdownHtml(block.content)}</div></details>\n`;
}

function markHtml(entry: Mark | UnknownEntry): string {
  const turns = entry.type === 'undo' || entry.type === 'redo' ? entry.turns.map(Number).join(' ') : '';
  const what = turns === '' ? '' : ` data-${entry.type === 'undo' ? 'undone' : 'redone'}="${turns}"`;
  return `<p class="mark"${what}>${lineOf(entry)}</p>\n`;
}

/** The line of the transcript in one element, without the dashes, which the page draws itself. */
function lineOf(entry: Entry): string {
  return `<span>${escaped(
    transcriptOf(entry)
      .trim()
      .replace(/^── | ──$/g, ''),
  )}</span>`;
}

/** Resolves to the bytes of an attachment, null if they are lost. */
type ReadAttachment = (sha256: string) => Promise<Uint8Array | null>;

/** The image types that every browser shows. */
const SHOWN_IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A part of a message as HTML; empty if it has nothing to show. */
async function partHtml(part: Part, role: Message['role'], read: ReadAttachment): Promise<string> {
  switch (part.type) {
    case 'text':
      return await textHtml(part, role);
    case 'image':
      return await imageHtml(part, read);
    case 'document':
      return `<p class="note">${escaped(fileLine(part))}</p>`;
    case 'tool_call':
      return callHtml(part);
    case 'tool_result':
      return resultHtml(part);
    case 'thinking':
    case 'vendor':
      return '';
  }
}

async function textHtml({ text, clock, recalled, book }: TextPart, role: Message['role']): Promise<string> {
  if (clock === true || text.trim() === '') return '';
  if (recalled !== undefined)
    return `<p class="note">${recalledLine([{ recalled, ...(book !== undefined && { book }) }])}</p>`;
  return role === 'user' ? typedHtml(text) : await markdownHtml(text);
}

/** Text from the user: a command they ran with its output, an attached text, or a message as typed. */
function typedHtml(text: string): string {
  const own = commandIn(text);
  if (own !== null) return foldedText('command', `<code>!${escaped(firstLine(own.command))}</code>`, own.printed);
  const file = readFileBlock(text);
  if (file !== null) return foldedText('file', escaped(file.name), file.text);
  return `<p class="typed">${escaped(text)}</p>`;
}

async function imageHtml(part: ImagePart, read: ReadAttachment): Promise<string> {
  const line = escaped(fileLine(part));
  if (!SHOWN_IMAGES.includes(part.mime)) return `<p class="note">${line}</p>`;
  const bytes = await read(part.sha256);
  if (bytes === null) return `<p class="note">${line}: lost</p>`;
  const { mime, width, height, name } = part;
  const size = width === undefined || height === undefined ? '' : ` width="${width}" height="${height}"`;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return `<figure><img alt="${escaped(name ?? 'Image')}"${size} decoding="async" src="data:${mime};base64,${data}"></figure>`;
}

const fileLine = ({ type, name, mime, bytes }: Extract<Part, { readonly bytes: number }>): string =>
  `[${type}: ${name ?? mime}, ${sizeText(bytes)}]`;

/** A call on one line, with its first informative argument, and all arguments folded. */
function callHtml({ name, args }: ToolCallPart): string {
  const first = Object.values(args).find((value) => typeof value === 'string' && value !== '');
  const hint = typeof first === 'string' ? ` ${escaped(firstLine(first))}` : '';
  return foldedText('call', `<code>${escaped(name)}</code>${hint}`, readable(args));
}

function resultHtml({ name, error, result }: ToolResultPart): string {
  const line = `<code>${escaped(name)}</code> ${error === undefined ? 'answered' : 'failed'}`;
  return foldedText(error === undefined ? 'result' : 'failed', line, error ?? readable(result ?? null));
}

/** JSON in readable form: strings are shown with their newlines. */
function readable(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return JSON.stringify(value, null, 2);
  return Object.entries(value)
    .map(([key, one]) => {
      const text = typeof one === 'string' ? one : JSON.stringify(one, null, 2);
      return `${key}:${text.includes('\n') ? '\n' : ' '}${text}`;
    })
    .join('\n');
}

function firstLine(text: string): string {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  return line.length <= 100 ? line : `${firstCharacters(line, 100)}…`;
}

/** How many characters of a tool's input or output, or of an attached file, are shown. */
const SHOWN_LENGTH = 20_000;

/** A text folded under a line, which is HTML. Browsers drop the newline at the start of `pre`. */
function foldedText(kind: string, line: string, text: string): string {
  return `<details class="${kind}"><summary>${line}</summary><pre tabindex="0">\n${escaped(bounded(text))}</pre></details>`;
}

function bounded(text: string): string {
  return text.length <= SHOWN_LENGTH
    ? text
    : `${firstCharacters(text, SHOWN_LENGTH)}…\n(${quantity(text.length, 'character')})`;
}
