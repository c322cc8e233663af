import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ReadBytes } from '../file/frames.js';
import { type ScannedFrame, startsAsJson } from './scan-frames.js';

/** The frames of a file that is plain JSON; null for any other. */
export function plainFrames(read: ReadBytes, size: number): readonly ScannedFrame[] | null {
  if (!startsAsJson(read(0, 64))) return null;
  const content = Buffer.from(read(0, size));
  const found = { content, isIntact: true, isVerified: false, isComplete: true, intactLength: 0, next: size };
  return [{ kind: 'data', at: 0, found, follows: true, isStale: false, isJoinedText: false }];
}

/** Maps other programs' names of roles to hi's. */
const ROLES: Readonly<Record<string, string>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** The values of missing fields. */
interface Defaults {
  readonly id: number;
  readonly turn: number;
  readonly at: string;
}

/** The id of an element, also as digits in a string; null when it has no valid one. */
export function idOf(value: JsonObject): number | null {
  return positive(value.id);
}

/** The turn of a message, null when it has none. */
export function turnOf(value: JsonObject): number | null {
  return positive(value.turn);
}

/** When an element was written, ISO 8601, null when it does not say. */
export function timeOf(value: JsonObject): string | null {
  const { at } = value;
  if (typeof at === 'string') return at;
  if (typeof at !== 'number') return null;
  // Seconds since 1970 stay below this number until the year 5138; milliseconds passed it in 1973.
  const time = new Date(at < 1e11 ? at * 1000 : at);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** True for an element that begins a turn. */
export function beginsTurn(value: JsonObject): boolean {
  return typeof value.role === 'string' && ROLES[value.role] === 'user';
}

/** True for an element in hi's form, unlike an object in a text or in the arguments of a tool. */
export function isWrittenByHi({ id, at, type, turn, role, content }: JsonObject): boolean {
  if (typeof id !== 'number' || positive(id) === null || typeof at !== 'string') return false;
  if (type !== undefined) return typeof type === 'string';
  return typeof role === 'string' && typeof turn === 'number' && isList(content);
}

/** True if this may be an element, even an incomplete one. */
export function isElement(value: JsonObject): boolean {
  return idOf(value) !== null || [value.role, value.type].some((name) => typeof name === 'string');
}

/** True if this can only be an element. After damage, parts of messages and arguments of tools look like elements. */
export function isCertainlyElement(value: JsonObject): boolean {
  const { at, role, type, content } = value;
  if (idOf(value) !== null) return [at, role, type].some((field) => typeof field === 'string');
  return typeof role === 'string' && role in ROLES && content !== undefined;
}

/** True for an element with a numeric id and, if it is a message, a numeric turn. */
export function isComplete({ id, turn, type }: JsonObject): boolean {
  return typeof id === 'number' && positive(id) !== null && (type !== undefined || typeof turn === 'number');
}

/** Converts the turn of an element to a number if it was a string of digits. */
export function numberedElement(value: JsonObject): JsonObject {
  const turn = turnOf(value);
  return turn === null || turn === value.turn ? value : { ...value, turn };
}

/**
 * An element with the missing fields filled in, and the names and texts of other programs in hi's form. No text is
 * lost.
 */
export function completeElement(value: JsonObject, { id, turn, at }: Defaults): JsonObject {
  const { id: _id, turn: _turn, at: _at, ...rest } = value;
  const made = { id: idOf(value) ?? id, turn: turnOf(value) ?? turn, at: timeOf(value) ?? at };
  if (typeof rest.role !== 'string') return { id: made.id, at: made.at, ...rest };
  const role = ROLES[rest.role] ?? rest.role;
  return { ...made, ...rest, role, ...withStopReason(rest, role) };
}

/** The content as parts, and the stop reason `end` for an answer without one. */
function withStopReason(value: JsonObject, role: string): JsonObject {
  const content = partsOf(value.content);
  const calls = content.some((part) => isJsonObject(part) && part.type === 'tool_call');
  const isOpen = role !== 'assistant' || calls || value.stop_reason !== undefined;
  return isOpen ? { content } : { content, stop_reason: 'end' };
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (content === undefined || content === null) return [];
  const parts: readonly JsonValue[] = isList(content) ? content : [content];
  return parts.map((part) => {
    if (typeof part === 'string') return { type: 'text', text: part };
    if (isJsonObject(part) && typeof part.type !== 'string' && typeof part.text === 'string')
      return { ...part, type: 'text' };
    return part;
  });
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function positive(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null;
}
