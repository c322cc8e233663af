import type { CompressBlock, UnknownEntry } from '../../chat/entry.js';
import { type Message, type Part, spokenParts } from '../../chat/message.js';
import { originalText, storedText } from '../../chat/stored-text.js';

/** What hi notes about a message, and no one has said. */
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

/** What was said in a message, as JSON: its words, calls, results, names of files and sources, and not what hi added to them. */
export function saidIn(message: Message): string {
  const original = originalText(message);
  if (original !== null) return original;
  const parts = spokenParts(message.content).map((part) => without(part, notedOf(part)));
  return JSON.stringify([parts, without(message, NOTED)]);
}

/** What a summary says and keeps, as JSON. */
export function saidInBlock({ content, state }: CompressBlock): string {
  return JSON.stringify([content, state ?? null]);
}

/** What an entry says that this version cannot read. */
export function saidInUnknown(entry: UnknownEntry): string {
  return storedText(entry);
}

/** The name of a tool is nobody's words; that of a picture is. */
const notedOf = ({ type }: Part): ReadonlySet<string> =>
  type === 'tool_call' || type === 'tool_result' ? new Set([...NOTED_OF_PART, 'name']) : NOTED_OF_PART;

const without = (value: object, keys: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
