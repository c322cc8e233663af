import { commandIn } from '../chat/command-report.js';
import { isJsonObject, type JsonValue } from '../chat/json.js';
import type { ImagePart, Message, Part, TextPart, ToolCallPart, ToolResultPart } from '../chat/message.js';
import { firstCharacters } from '../chat/text/cut-text.js';
import { readFileBlock } from '../chat/text/file-block.js';
import { recalledLine, shortCount } from '../chat/transcript.js';
import { escaped } from './escape.js';
import { foldedText } from './folded.js';
import { markdownHtml } from './markdown-html.js';

/** Resolves to the bytes of an attachment, null if they are lost. */
export type ReadAttachment = (sha256: string) => Promise<Uint8Array | null>;

/** The image types that every browser shows. */
const SHOWN_IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A part of a message as HTML; empty if it has nothing to show. */
export async function partHtml(part: Part, role: Message['role'], read: ReadAttachment): Promise<string> {
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

async function textHtml({ text, clock, recalled }: TextPart, role: Message['role']): Promise<string> {
  if (clock === true || text.trim() === '') return '';
  if (recalled !== undefined) return `<p class="note">${recalledLine(recalled.length)}</p>`;
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
  `[${type}: ${name ?? mime}, ${shortCount(bytes)} bytes]`;

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
