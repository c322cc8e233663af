import { isJsonObject, type JsonObject, type JsonValue } from '../chat/json.js';
import { isTurnName, type Message } from '../chat/message.js';

/** A message by its turn's name, its time and its role, which are the same on every machine. */
export type MessageName = readonly [turn: string, at: string, role: string];

/**
 * A finished turn. Its messages are as in the history, but without `id`, `turn` and `from`, and without what hi
 * recalled for them.
 */
export interface TurnItem {
  readonly kind: 'turn';
  readonly turn: string;
  readonly messages: readonly JsonObject[];
}

/**
 * A decision of the user about one subject: whether a turn is undone, a message pinned, a line in the memory. Of two
 * the one with the higher `v` wins, of two with the same the one that says `true`. A line is named by a hash, so that
 * the item which removes it does not repeat it.
 */
export type DecisionItem = { readonly v: number; readonly value: boolean } & (
  | { readonly kind: 'undo'; readonly turn: string }
  | { readonly kind: 'pin'; readonly message: MessageName }
  | { readonly kind: 'line'; readonly line: string; readonly text?: string; readonly origin?: JsonObject }
);

/**
 * What was forgotten: whole turns, and single messages. A machine gives it out, too, once it has forgotten all of it.
 */
export interface ForgetItem {
  readonly kind: 'forget';
  readonly id: string;
  readonly turns: readonly string[];
  readonly messages: readonly MessageName[];
}

/**
 * All conversations are reset. Only turns that are among these names, 8 bytes each, in base64, are meant: what was said
 * unknown to the one who reset stays.
 */
export interface ResetItem {
  readonly kind: 'reset';
  readonly id: string;
  readonly purge: boolean;
  readonly known: string;
}

/** The newest summary of a machine, for one that joins without a history. */
export interface SummaryItem {
  readonly kind: 'block';
  /** How many turns the machine had. */
  readonly turns: number;
  /** The fields of its block that mean the same everywhere. */
  readonly block: JsonObject;
  /** What the ids in its citations and facts name. */
  readonly names: readonly (readonly [id: number, name: MessageName])[];
  /** The first turn of each machine that it had: after a reset there may be earlier ones, which are not covered. */
  readonly first: Readonly<Record<string, string>>;
  /** The newest turns that the machine knew of each machine, the newest last. */
  readonly newest: Readonly<Record<string, readonly string[]>>;
  /** The first turn of a machine that the summary does not cover. */
  readonly kept: Readonly<Record<string, string>>;
}

export type ShareItem = TurnItem | DecisionItem | ForgetItem | ResetItem | SummaryItem;

/** The content of a file: the numbers of its items among all of the machine, and the items. */
export interface FileContent {
  /** The user's name for the machine. */
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** As they are, so that what only a later version knows stays in a file that is made of several. */
  readonly items: readonly JsonObject[];
}

/** A file's content in a text; null if it is none. */
export function contentIn(text: string): FileContent | null {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const { name, first, last, items } = value;
  const isRange = isNumber(first) && isNumber(last) && first >= 1 && last >= first;
  if (typeof name !== 'string' || !isRange || !Array.isArray(items) || !items.every(isJsonObject)) return null;
  return { name, first, last, items };
}

/** An item; null for one that this version does not know, or that is invalid. */
export function itemOf(stored: JsonObject): ShareItem | null {
  switch (stored.kind) {
    case 'turn':
      return turnItem(stored);
    case 'forget':
      return forgetItem(stored);
    case 'reset':
      return resetItem(stored);
    case 'block':
      return summaryItem(stored);
    default:
      return decisionItem(stored);
  }
}

function turnItem({ turn, messages }: JsonObject): TurnItem | null {
  if (!isTurnName(turn) || !Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject))
    return null;
  return { kind: 'turn', turn, messages };
}

function forgetItem({ id, turns, messages }: JsonObject): ForgetItem | null {
  if (typeof id !== 'string' || !Array.isArray(turns) || !Array.isArray(messages)) return null;
  return { kind: 'forget', id, turns: turns.filter(isTurnName), messages: messages.filter(isMessageName) };
}

function resetItem({ id, purge, known }: JsonObject): ResetItem | null {
  if (typeof id !== 'string' || typeof known !== 'string') return null;
  return { kind: 'reset', id, purge: purge === true, known };
}

function summaryItem({ turns, block, names, first, newest, kept }: JsonObject): SummaryItem | null {
  if (!isNumber(turns) || !isJsonObject(block) || !Array.isArray(names)) return null;
  if (!isJsonObject(newest) || !isJsonObject(kept)) return null;
  const lists = Object.entries(newest);
  return {
    kind: 'block',
    turns,
    block,
    names: names.filter((one): one is [number, MessageName] => isNumber(one?.[0]) && isMessageName(one?.[1])),
    newest: Object.fromEntries(lists.map(([id, list]) => [id, Array.isArray(list) ? list.filter(isTurnName) : []])),
    first: isJsonObject(first) ? turnsByMachine(first) : {},
    kept: turnsByMachine(kept),
  };
}

function turnsByMachine(turns: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(turns).flatMap(([id, turn]) => (isTurnName(turn) ? [[id, turn]] : [])));
}

function decisionItem({ kind, v, value, turn, message, line, text, origin }: JsonObject): DecisionItem | null {
  if (!isNumber(v) || typeof value !== 'boolean') return null;
  if (kind === 'undo') return isTurnName(turn) ? { kind, v, value, turn } : null;
  if (kind === 'pin') return isMessageName(message) ? { kind, v, value, message } : null;
  if (kind !== 'line' || typeof line !== 'string') return null;
  const isWhole = typeof text === 'string' || !value;
  return isWhole
    ? { kind, v, value, line, ...(typeof text === 'string' && { text }), ...(isJsonObject(origin) && { origin }) }
    : null;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

function isMessageName(value: unknown): value is MessageName {
  if (!Array.isArray(value)) return false;
  const [turn, at, role] = value;
  return isTurnName(turn) && typeof at === 'string' && typeof role === 'string';
}

/** The name of a message of that turn. */
export function messageName(turn: string, { at, role }: Pick<Message, 'at' | 'role'>): MessageName {
  return [turn, at, role];
}

/** So many characters are taken in at a time. */
const BATCH = 2 * 1024 * 1024;

/** The turns in batches of about `BATCH` characters. */
export function* batchesOf(turns: Iterable<TurnItem>): Generator<readonly TurnItem[]> {
  let batch: TurnItem[] = [];
  let size = 0;
  for (const turn of turns) {
    batch.push(turn);
    size += sizeOf(turn.messages);
    if (size < BATCH) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** About how many characters a value has. */
function sizeOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 0;
  for (const part of Object.values(value)) size += 8 + sizeOf(part);
  return size;
}
