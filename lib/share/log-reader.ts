import { type Entry, isMessage, type Mark } from '../chat/entry.js';
import type { JsonObject } from '../chat/json.js';
import type { Message, Part, TextPart } from '../chat/message.js';
import { isTurnName, turnName } from '../chat/turn-name.js';
import { decodeEntry } from '../history/file/decode-entry.js';
import { pinnable } from '../view/block-state.js';
import { openTurns } from '../view/view.js';
import { type Decisions, decidedHere, decidedThere } from './decisions.js';
import { type DecisionItem, type ForgetItem, type MessageName, messageName, type TurnItem } from './items.js';
import { KnownTurns } from './known-turns.js';

/** What the history says about sharing, up to an entry. */
export interface Accounted {
  readonly known: KnownTurns;
  decisions: Decisions;
  /** The turns of this machine that were not given out, by the id of their first message. */
  readonly open: Set<number>;
  /** The pinned messages by their ids. */
  readonly pins: Map<number, MessageName>;
  /** What was forgotten, by its id. */
  readonly forgotten: Map<string, ForgetItem>;
  last: { readonly id: number; readonly at: string };
}

/** The account of an empty history. */
export function emptyAccount(): Accounted {
  const [open, pins, forgotten] = [new Set<number>(), new Map(), new Map()];
  return { known: new KnownTurns(), decisions: {}, open, pins, forgotten, last: { id: 0, at: '' } };
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

function accountMessage({ known, open }: Accounted, message: Message): void {
  const { id, turn, from, uid, content, role } = message;
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

/**
 * The messages of a turn that came from the machine `from`, null for this one, as they are appended with ids from
 * `next` on; none if they cannot be read. `line` is put before the user's words.
 */
export function arrivedMessages(
  { turn, messages }: TurnItem,
  next: number,
  from: string | null,
  isBarred: IsBarred,
  line: TextPart | null,
): readonly Message[] {
  const arrived: Message[] = [];
  for (const stored of withoutBarred(turn, messages, isBarred)) {
    const element = { ...stored, id: next + arrived.length, turn: next, ...(from !== null && { from }) };
    const entry = decodeEntry(element, () => JSON.stringify(element));
    if (entry === null || !isMessage(entry)) return [];
    arrived.push(entry);
  }
  const [first, ...others] = arrived;
  if (first === undefined) return [];
  const named = first.uid === turn || turnName(first) === turn ? first : { ...first, uid: turn };
  return [line === null || named.role !== 'user' ? named : withLine(named, line), ...others];
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
