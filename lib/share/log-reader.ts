import { type Entry, isMessage, type Mark } from '../chat/entry.js';
import type { JsonObject } from '../chat/json.js';
import { isTurnName, type Message, type Part, type TextPart, turnName } from '../chat/message.js';
import { decodeEntry } from '../history/file/decode-entry.js';
import { pinnable } from '../view/block-state.js';
import { endsTurn, openTurns } from '../view/view.js';
import { type Decisions, decidedHere, decidedThere } from './decisions.js';
import { type DecisionItem, type ForgetItem, type MessageName, messageName, type TurnItem } from './items.js';
import { KnownTurns } from './known-turns.js';

/** What the history says about sharing, up to an entry. */
export interface Accounted {
  readonly known: KnownTurns;
  decisions: Decisions;
  /** The turns of this machine that were not given out, by the id of their first message. */
  readonly open: Set<number>;
  /** The turns that have not ended, running or cut short, with the newest message of each. */
  readonly unfinished: Map<number, Pick<Message, 'at' | 'role'>>;
  /** The pinned messages by their ids. */
  readonly pins: Map<number, MessageName>;
  /** What was forgotten, by its id. */
  readonly forgotten: Map<string, ForgetItem>;
  last: { readonly id: number; readonly at: string };
}

/** The account of an empty history. */
export function emptyAccount(): Accounted {
  const lists = { open: new Set<number>(), unfinished: new Map(), pins: new Map(), forgotten: new Map() };
  return { known: new KnownTurns(), decisions: {}, last: { id: 0, at: '' }, ...lists };
}

/** Accounts for the next entry. */
export function account(accounted: Accounted, entry: Entry): void {
  accounted.last = { id: entry.id, at: entry.at };
  if (isMessage(entry)) accountMessage(accounted, entry);
  else if (entry.type !== 'compress' && entry.type !== 'unknown') accountMark(accounted, entry);
}

/** Accounts for those of the entries that are new. */
export function catchUp(accounted: Accounted, entries: readonly Entry[]): void {
  const { id } = accounted.last;
  // Nearly always the last few of very many.
  for (let at = entries.findLastIndex((entry) => entry.id <= id) + 1; at < entries.length; at += 1) {
    const entry = entries[at];
    if (entry !== undefined) account(accounted, entry);
  }
}

function accountMessage({ known, open, unfinished }: Accounted, message: Message): void {
  const { id, turn, at, from, uid, content, role } = message;
  if (endsTurn(message)) unfinished.delete(turn);
  else unfinished.set(turn, { at, role });
  // A turn whose first message was forgotten keeps its name with the next one.
  if (id !== turn && !isTurnName(uid)) return;
  if (role !== 'user' && content.length === 0) return;
  known.add(turnName(message), turn);
  if (from === undefined) open.add(turn);
}

function accountMark(accounted: Accounted, mark: Mark): void {
  if (mark.type === 'forgotten') {
    const { uid: id, forgotten_turns: turns, forgotten_messages: messages } = mark;
    accounted.forgotten.set(id, { kind: 'forget', id, turns, messages });
    for (const name of turns) if (isTurnName(name)) accounted.known.add(name, 0);
    return;
  }
  const decided = mark.v === undefined ? decidedHere : decidedThere;
  for (const item of itemsOfMark(accounted, mark, mark.v ?? 0))
    accounted.decisions = decided(accounted.decisions, item);
}

function itemsOfMark(
  { known, pins }: Accounted,
  mark: Exclude<Mark, { type: 'forgotten' }>,
  v: number,
): readonly DecisionItem[] {
  switch (mark.type) {
    case 'undo':
    case 'redo':
      return mark.turns.flatMap((id): DecisionItem[] => {
        const turn = known.nameOf(id);
        return turn === null ? [] : [{ kind: 'undo', turn, v, value: mark.type === 'undo' }];
      });
    case 'pin': {
      const turn = known.nameOf(mark.message.turn);
      if (turn === null) return [];
      const message = messageName(turn, mark.message);
      pins.set(mark.message.id, message);
      return [{ kind: 'pin', message, v, value: true }];
    }
    case 'unpin':
      return mark.messages.flatMap((id): DecisionItem[] => {
        const message = pins.get(id);
        return message === undefined ? [] : [{ kind: 'pin', message, v, value: false }];
      });
  }
}

/** Whether all of these messages of one turn are there. */
export function isFinished(messages: readonly Message[]): boolean {
  return messages.length > 0 && openTurns(messages).length === 0;
}

/** A finished turn as it travels. */
export function turnItem(messages: readonly [Message, ...Message[]]): TurnItem {
  // `hi forget` may have left a message without content behind the end, so that no id is used again.
  const end = messages.findIndex(({ role, stop_reason }) => role === 'assistant' && stop_reason !== 'tool_calls');
  const whole = end < 0 ? messages : messages.slice(0, end + 1);
  return { kind: 'turn', turn: turnName(messages[0]), messages: whole.map(travelling) };
}

/** Ids mean nothing elsewhere, and what was recalled is there as well. */
function travelling({ id: _id, turn: _turn, from: _from, ...message }: Message): JsonObject {
  const content = message.content.filter((part) => part.type !== 'text' || part.recalled === undefined);
  // What is in the log is JSON.
  return { ...message, content } as unknown as JsonObject;
}

/** What of a turn must stay away: single messages that were forgotten. */
export type IsBarred = (name: MessageName) => boolean;

/** How turns are taken in. */
export interface Arriving {
  /** The machine that they came from; null for this one. */
  readonly from: string | null;
  readonly isBarred: IsBarred;
  /** Whether the turn of that id is running here. */
  isRunning(turn: number): boolean;
}

/**
 * The messages of a turn that are not here, as they are appended with ids from `next` on; none if they cannot be read.
 * A turn that was cut short here is completed. `line` is put before the user's words.
 */
export function arrivedMessages(
  item: TurnItem,
  { known, unfinished }: Accounted,
  next: number,
  arriving: Arriving,
  line: TextPart | null,
): readonly Message[] {
  const { turn } = item;
  const messages = withoutBarred(turn, item.messages, arriving.isBarred);
  if (!known.has(turn)) return named(turn, decoded(messages, next, next, arriving), line);
  const id = known.idOf(turn) ?? 0;
  const newest = unfinished.get(id);
  if (newest === undefined || arriving.isRunning(id)) return [];
  const last = messages.findLastIndex(({ at, role }) => at === newest.at && role === newest.role);
  return last < 0 ? [] : decoded(messages.slice(last + 1), next, id, arriving);
}

/** Messages of a turn with that id as they are appended; none if one cannot be read. */
function decoded(messages: readonly JsonObject[], next: number, turn: number, { from }: Arriving): readonly Message[] {
  const decoded: Message[] = [];
  for (const stored of messages) {
    const element = { ...stored, id: next + decoded.length, turn, ...(from !== null && { from }) };
    const entry = decodeEntry(element, () => JSON.stringify(element));
    if (entry === null || !isMessage(entry)) return [];
    decoded.push(entry);
  }
  return decoded;
}

/** A whole turn under its name, with `line` before the user's words. */
function named(turn: string, messages: readonly Message[], line: TextPart | null): readonly Message[] {
  const [first, ...others] = messages;
  if (first === undefined) return [];
  const begun = first.uid === turn || turnName(first) === turn ? first : { ...first, uid: turn };
  return [line === null || begun.role !== 'user' ? begun : withLine(begun, line), ...others];
}

/**
 * The messages of a turn without some of them. A message without content stays where one ended the turn, as `hi forget`
 * leaves it.
 */
export function withoutBarred(
  turn: string,
  messages: readonly JsonObject[],
  isBarred: IsBarred,
): readonly JsonObject[] {
  const isMeant = ({ at, role }: JsonObject): boolean => isBarred([turn, String(at), String(role)]);
  const kept = messages.filter((message) => !isMeant(message));
  const last = messages.at(-1);
  if (kept.length === 0 || kept.length === messages.length || last === undefined || !isMeant(last)) return kept;
  return last.role === 'assistant'
    ? [...kept, { at: last.at, role: 'assistant', content: [], cwd: '', stop_reason: 'end' }]
    : kept;
}

function withLine(message: Message, line: TextPart): Message {
  const content: readonly Part[] = message.content.filter((part) => part.type !== 'text' || part.clock !== true);
  return { ...message, content: [line, ...content] };
}

/** The message of that name among some entries; null if it is not there. */
export function messageNamed(
  entries: readonly Entry[],
  known: KnownTurns,
  [turn, at, role]: MessageName,
): Message | null {
  const id = known.idOf(turn);
  const found = entries.find(
    (entry) => isMessage(entry) && entry.turn === id && entry.at === at && entry.role === role,
  );
  return found !== undefined && isMessage(found) ? found : null;
}

/** A decision as the mark that carries it out here; null if its subject is not here. */
export function markOf(
  item: DecisionItem,
  { known }: Accounted,
  entries: readonly Entry[],
  id: number,
  at: string,
): Mark | null {
  if (item.kind === 'line') return null;
  if (item.kind === 'undo') {
    const turn = known.idOf(item.turn);
    return turn === null ? null : { id, at, type: item.value ? 'undo' : 'redo', turns: [turn], v: item.v };
  }
  const message = messageNamed(entries, known, item.message);
  // What was forgotten meanwhile is not pinned.
  if (message === null || message.content.length === 0) return null;
  if (!item.value) return { id, at, type: 'unpin', messages: [message.id], v: item.v };
  return { id, at, type: 'pin', message: pinnable(message), v: item.v };
}
