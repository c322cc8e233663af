import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { harmlessLine } from '../base/harmless-text.js';

/** What a tool gave back, taken apart. */
export interface CallResult {
  /** All words of it. */
  readonly text: string;
  /** Pictures, sounds and files, in order. */
  readonly files: readonly ResultFile[];
  readonly isError: boolean;
}

/** A file in a result. */
export interface ResultFile {
  readonly mime: string;
  readonly bytes: Buffer;
}

/** Reads what a server says is the result of a call. What is of no known kind is named. */
export function readResult(given: unknown): CallResult {
  const result: JsonObject = isJsonObject(given) ? given : {};
  const content: readonly JsonValue[] = Array.isArray(result.content) ? result.content : [];
  const files: ResultFile[] = [];
  const texts = content.map((block) => (isJsonObject(block) ? textOf(block, files) : ''));
  const spoken = texts.filter((text) => text !== '').join('\n');
  const structured = result.structuredContent === undefined ? '' : JSON.stringify(result.structuredContent);
  return { text: spoken === '' && files.length === 0 ? structured : spoken, files, isError: result.isError === true };
}

/** The words of one block; a file in it is added to `files`. */
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
  if (bytes.length === 0) return '[a file without content]';
  files.push({ mime: harmlessLine(mime, 128) || 'application/octet-stream', bytes });
  return '';
}
