import { type CompressBlock, type Mark, originalText, storedText, type UnknownEntry } from '../../chat/entry.js';
import { type Message, type Part, spokenParts } from '../../chat/message.js';

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

const NOTED_OF_BLOCK: ReadonlySet<string> = new Set([
  ...['id', 'at', 'type', 'strategy', 'source', 'first_kept', 'messages_compacted', 'messages_kept', 'tokens_before'],
  ...['tokens_after', 'restores', 'rests_on', 'pins', 'provider', 'model', 'api_base', 'usage', 'aside'],
]);

const NOTED_OF_MARK: ReadonlySet<string> = new Set(['id', 'at', 'type', 'turns', 'message', 'messages', 'aside']);

const NOTED_OF_PART: ReadonlySet<string> = new Set(['type', 'mime', 'sha256', 'bytes', 'width', 'height', 'call_id']);

/** The contents of a message as JSON: its text, calls, results, names of files and sources, without hi's additions. */
export function saidIn(message: Message): string {
  const original = originalText(message);
  if (original !== null) return original;
  const parts = spokenParts(message.content).map((part) => without(part, notedOf(part)));
  return JSON.stringify([parts, without(message, NOTED)]);
}

/** A summary as JSON, with what other programs added to it, but without hi's additions and the pinned messages. */
export function saidInBlock(block: CompressBlock): string {
  return JSON.stringify(without(block, NOTED_OF_BLOCK));
}

/** What another program added to a mark, as JSON. */
export function saidInMark(mark: Mark): string {
  return JSON.stringify(without(mark, NOTED_OF_MARK));
}

/** The mark without that. */
export function bareMark(mark: Mark): Mark {
  const { id, at, aside } = mark;
  const known = { id, at, ...(aside && { aside }) };
  if (mark.type === 'pin') return { type: 'pin', message: mark.message, ...known };
  if (mark.type === 'unpin') return { type: 'unpin', messages: mark.messages, ...known };
  return { type: mark.type, turns: mark.turns, ...known };
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
