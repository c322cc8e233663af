import type { CompressBlock, UnknownEntry } from '../../chat/entry.js';
import { type Message, type Part, spokenParts } from '../../chat/message.js';
import { originalText, storedText } from '../../chat/stored-text.js';

/** The fields of a message that hi adds, which nobody said. */
const NOTED: ReadonlySet<string> = new Set([
  ...[
    'id',
    'turn',
    'at',
    'role',
    'model',
    'provider',
    'origin',
    'api_base',
    'usage',
    'stop_reason',
    'skills',
    'zone',
    'type',
  ],
  ...['cwd', 'host', 'content'],
]);

const NOTED_OF_PART: ReadonlySet<string> = new Set(['type', 'mime', 'sha256', 'bytes', 'width', 'height', 'call_id']);

/** The contents of a message as JSON: its text, calls, results, names of files and sources, without hi's additions. */
export function saidIn(message: Message): string {
  const original = originalText(message);
  if (original !== null) return original;
  const parts = spokenParts(message.content).map((part) => without(part, notedOf(part)));
  return JSON.stringify([parts, without(message, NOTED)]);
}

/** The text and state of a summary, as JSON. */
export function saidInBlock({ content, state }: CompressBlock): string {
  return JSON.stringify([content, state ?? null]);
}

/** The contents of an entry that this version cannot read. */
export function saidInUnknown(entry: UnknownEntry): string {
  return storedText(entry);
}

/** The name of a tool is not something that was said; that of an image is. */
const notedOf = ({ type }: Part): ReadonlySet<string> =>
  type === 'tool_call' || type === 'tool_result' ? new Set([...NOTED_OF_PART, 'name']) : NOTED_OF_PART;

const without = (value: object, keys: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
