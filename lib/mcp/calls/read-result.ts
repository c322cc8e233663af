import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { harmlessLine } from '../base/harmless-text.js';

/** The parsed result of a tool. */
export interface CallResult {
  /** All of its text. */
  readonly text: string;
  /** Pictures, audio and files, in order. */
  readonly files: readonly ResultFile[];
  readonly isError: boolean;
}

/** A file in a result. */
export interface ResultFile {
  readonly mime: string;
  readonly bytes: Buffer;
}

/** Parses the result of a call. Content of an unknown type is only named. */
export function readResult(given: unknown): CallResult {
  const result: JsonObject = isJsonObject(given) ? given : {};
  const files: ResultFile[] = [];
  const spoken =
    typeof result.content === 'string'
      ? result.content
      : joined(listIn(result, 'content').map((block) => (isJsonObject(block) ? textOf(block, files) : '')));
  const structured = result.structuredContent === undefined ? '' : JSON.stringify(result.structuredContent);
  return { text: spoken === '' && files.length === 0 ? structured : spoken, files, isError: result.isError === true };
}

/** Parses the messages of a prompt into one text, in which those not from the user name their author. */
export function readMessages(given: unknown): CallResult {
  const files: ResultFile[] = [];
  const texts = listIn(given, 'messages').map((message) => {
    const { role, content } = isJsonObject(message) ? message : {};
    const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [content ?? null];
    const text = joined(blocks.map((block) => (isJsonObject(block) ? textOf(block, files) : '')));
    return role === 'assistant' && text !== '' ? `[assistant]\n${text}` : text;
  });
  return { text: texts.filter((text) => text !== '').join('\n\n'), files, isError: false };
}

/** Parses a resource of a server: its texts and files. */
export function readContents(given: unknown): CallResult {
  const files: ResultFile[] = [];
  const texts = listIn(given, 'contents').map((content) => {
    const { text, blob, mimeType } = isJsonObject(content) ? content : {};
    return typeof text === 'string' ? text : fileIn(blob, mimeType, files);
  });
  return { text: joined(texts), files, isError: false };
}

function listIn(given: unknown, key: string): readonly JsonValue[] {
  const list = isJsonObject(given) ? given[key] : null;
  return Array.isArray(list) ? list : [];
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');

/** The text of one block. A file in it is added to `files`. */
function textOf(block: JsonObject, files: ResultFile[]): string {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? block.text : '';
    case 'image':
    case 'audio':
      return fileIn(block.data, block.mimeType, files);
    case 'resource':
      return isJsonObject(block.resource) ? resourceText(block.resource, files) : '';
    case 'resource_link':
      return `[resource ${harmlessLine(block.uri, 2048)}: ${harmlessLine(block.name, 256)}]`;
    default:
      return `[content of the unknown type '${harmlessLine(block.type, 64)}']`;
  }
}

function resourceText({ uri, text, blob, mimeType }: JsonObject, files: ResultFile[]): string {
  const name = `[resource ${harmlessLine(uri, 2048)}]`;
  if (typeof text === 'string') return `${name}\n${text}`;
  return [name, fileIn(blob, mimeType, files)].filter((part) => part !== '').join('\n');
}

/** Base64 is never text for the model. */
function fileIn(data: JsonValue | undefined, mime: JsonValue | undefined, files: ResultFile[]): string {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.alloc(0);
  if (bytes.length === 0) return '[an empty file]';
  files.push({ mime: harmlessLine(mime, 128) || 'application/octet-stream', bytes });
  return '';
}
