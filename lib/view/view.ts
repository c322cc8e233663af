import { type CompressBlock, type Entry, isCompressBlock, isMessage, WHOLE } from '../chat/entry.js';
import { lastSkillMessage, undoneTurns } from '../chat/entry-list.js';
import { isPart, type Message, type Part } from '../chat/message.js';
import type { ChatRequest } from '../chat/request.js';
import { pinnedIn, stateOf, withPinned } from './block-state.js';
import { shortened, withNames } from './shorten.js';
import { charactersOf } from './size.js';

/** The part of the conversation that is sent; preamble, skills and tools come on top of it. */
export interface View {
  /** The block in effect, or null. Its content is sent before the messages, unless it is empty. */
  readonly block: CompressBlock | null;
  /** The messages to send, in order of turns, oldest first, with pruned results shortened. */
  readonly messages: readonly Message[];
  /** The ids of those that the user pinned; absent if there are none. */
  readonly pinned?: ReadonlySet<number>;
}

/**
 * Derives what is sent from the log only: the newest block, then the messages it kept and every later one.
 *
 * Only whole turns are in it, in the order they began, and last the one that is `running` in this process (a turn id,
 * null between turns). A message without content (an answer interrupted before its first word) is not sent: vendors
 * answer 400 to it. While a turn runs, what other processes finish meanwhile stays out, so that each of its requests
 * extends the one before byte for byte.
 */
export function view(entries: readonly Entry[], running: number | null): View {
  return viewFrom(newestBlock(entries), entries, running);
}

/** A position in the view: turns are ordered by id, and so are the messages of a turn. */
export interface Position {
  readonly turn: number;
  readonly id: number;
}

/** The view if `block` were the newest one. */
export function viewFrom(block: CompressBlock | null, entries: readonly Entry[], running: number | null): View {
  const state = stateOf(block);
  const [pruned, named] = [new Set(state.pruned), new Set(state.named)];
  const pinned = pinnedIn(entries, block, running);
  const shown = (message: Message): Message => {
    if (pinned.has(message.id)) return message;
    const short = pruned.has(message.id) ? shortened(message) : message;
    return named.has(message.id) ? withNames(short) : short;
  };
  const turns = turnsOf(entries, keptBy(block, entries)).filter((turn) => isSent(turn, running));
  const messages = turns.flatMap((turn) => turn.messages.map(shown));
  const sent = pairedOnly(withPinned(messages, pinned)).filter(({ content }) => content.length > 0);
  return pinned.size === 0 ? { block, messages: sent } : { block, messages: sent, pinned: new Set(pinned.keys()) };
}

/** Whether a message is still sent with this block: it is after the cut, or kept explicitly. */
export function keptBy(block: CompressBlock | null, entries: readonly Entry[]): (message: Message) => boolean {
  if (block === null) return () => true;
  const { also, open } = stateOf(block);
  const cut = cutOf(block, entries);
  return ({ turn, id }) =>
    turn > cut.turn || (turn === cut.turn && id >= cut.id) || also.includes(id) || open.includes(turn);
}

/** The block in effect: the newest one. */
export function newestBlock(entries: readonly Entry[]): CompressBlock | null {
  return entries.findLast(isCompressBlock) ?? null;
}

/** The log without the blocks that brought everything back into view: what later blocks are made from. */
export function withoutWhole(entries: readonly Entry[]): readonly Entry[] {
  return entries.some(isWhole) ? entries.filter((entry) => !isWhole(entry)) : entries;
}

/** Whether a block brought everything back into view that fits. */
export const isWhole = (entry: Entry | null): boolean =>
  entry !== null && isCompressBlock(entry) && entry.strategy === WHOLE;

/**
 * The newest block that summarises what came before it, as if only what its text covers had left: the next summary
 * covers the other messages too. A fallback covers nothing.
 */
export function newestBase(entries: readonly Entry[]): CompressBlock | null {
  const newest = entries.findLast(
    (entry): entry is CompressBlock => isCompressBlock(entry) && entry.source !== 'fallback' && !isWhole(entry),
  );
  return newest === undefined ? null : asCovered(newest);
}

/** Whether the text of a block covers every message before its cut. */
export function coversAll(block: CompressBlock): boolean {
  const { covered, skipped } = stateOf(block);
  const isSummary = block.source === 'model' || block.source === 'cache';
  return isSummary && covered === null && skipped === null && block.restores === undefined;
}

const COVERED = new WeakMap<CompressBlock, CompressBlock>();

function asCovered(block: CompressBlock): CompressBlock {
  const { covered } = stateOf(block);
  if (covered === null) return block;
  const known = COVERED.get(block);
  if (known) return known;
  const wider = { ...block, state: { ...block.state, cut: { ...covered } } };
  COVERED.set(block, wider);
  return wider;
}

/** True when the turn is sent: it is the running one, or ended before the running one began. */
export function isSent(turn: Turn, running: number | null): boolean {
  return turn.id === running || (turn.finished && (running === null || turn.last < running));
}

/**
 * The id of the oldest entry that any later view or compaction of this log can need; null when it needs none. The
 * history opens from there.
 */
export function firstNeeded(entries: readonly Entry[]): number | null {
  const newest = newestBlock(entries);
  const least = neededBy(newestBase(entries), entries);
  return newest === null || !isWhole(newest) || least === null ? least : Math.min(least, newest.first_kept ?? least);
}

function neededBy(base: CompressBlock | null, entries: readonly Entry[]): number | null {
  if (base === null) return loadedFrom(entries);
  const keeps = keptBy(base, entries);
  // Those of undone turns too: the user may redo them.
  const kept = entries.find((entry) => isMessage(entry) && keeps(entry));
  const pins = base.pins === undefined ? base.id : base.pins.until + 1;
  // The state of the skills is recorded only with the newest message that has them.
  return Math.min(pins, kept?.id ?? base.id, lastSkillMessage(entries)?.id ?? base.id);
}

/** The unfinished turns: they are running in another process, or crashed. */
export function openTurns(entries: readonly Entry[]): readonly number[] {
  return turnsOf(entries)
    .filter((turn) => !turn.finished)
    .map((turn) => turn.id);
}

/** The position of the first message that a block keeps. */
export function cutOf(block: CompressBlock, entries: readonly Entry[]): Position {
  const { cut } = stateOf(block);
  if (cut) return cut;
  const id = block.first_kept ?? block.id;
  const first = entries.find((entry) => entry.id === id);
  return { turn: first && isMessage(first) ? first.turn : id, id };
}

/** The messages that share a turn id, in the order they were written. */
export interface Turn {
  readonly id: number;
  readonly messages: readonly Message[];
  /**
   * True when the turn is over: the answer ended, was refused or was interrupted, or the turn is the note of a local
   * command.
   */
  readonly finished: boolean;
  /** The id of its newest message. */
  readonly last: number;
  /** When its newest message was written. */
  readonly at: string;
}

/**
 * All turns that were not undone, in the order they began, regardless of the order in which processes wrote their
 * messages. With `keeps`, only the messages it keeps, and only turns with at least one of them.
 */
export function turnsOf(entries: readonly Entry[], keeps: (message: Message) => boolean = () => true): readonly Turn[] {
  const undone = undoneTurns(entries);
  const found = new Map<number, { readonly kept: Message[]; newest: Message }>();
  let current: { readonly kept: Message[]; newest: Message } | undefined;
  for (const entry of entries) {
    if (!isMessage(entry) || undone.has(entry.turn)) continue;
    // Fast path: the next message nearly always belongs to the same turn.
    if (entry.turn !== current?.newest.turn) {
      current = found.get(entry.turn) ?? { kept: [], newest: entry };
      found.set(entry.turn, current);
    }
    current.newest = entry;
    if (keeps(entry)) current.kept.push(entry);
  }
  return [...found.values()]
    .filter(({ kept }) => kept.length > 0)
    .map(({ kept, newest }) => turn(kept, newest))
    .sort((one, other) => one.id - other.id);
}

/** A turn counts as finished by all its messages, also those that are not kept. */
function turn(messages: readonly Message[], newest: Message): Turn {
  return { id: newest.turn, messages, finished: endsTurn(newest), last: newest.id, at: newest.at };
}

/** Whether a message is the output of a local command, which no model was asked about. */
export const isNote = ({ role, stop_reason }: Message): boolean => role === 'user' && stop_reason !== undefined;

export function endsTurn(message: Message): boolean {
  if (message.role === 'user') return isNote(message);
  return message.role === 'assistant' && message.stop_reason !== undefined && message.stop_reason !== 'tool_calls';
}

/**
 * The messages without tool results whose call is missing, and calls whose result is missing: every vendor rejects one
 * without the other. Calls in the last message stay, because they are about to run. A message may end up without
 * content.
 */
export function pairedOnly(messages: readonly Message[]): readonly Message[] {
  const unpaired = unpairedParts(messages);
  if (unpaired.size === 0) return messages;
  return messages.map((message) =>
    message.content.some((part) => unpaired.has(part))
      ? { ...message, content: message.content.filter((part) => !unpaired.has(part)) }
      : message,
  );
}

function unpairedParts(messages: readonly Message[]): ReadonlySet<Part> {
  const unpaired = new Set<Part>();
  const waiting = new Map<string, Part>();
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'tool_call') {
        const earlier = waiting.get(part.call_id);
        if (earlier) unpaired.add(earlier);
        waiting.set(part.call_id, part);
      } else if (part.type === 'tool_result' && !waiting.delete(part.call_id)) unpaired.add(part);
    }
  }
  const last = messages.at(-1);
  for (const part of waiting.values()) if (!last?.content.includes(part)) unpaired.add(part);
  return unpaired;
}

/** The most that is loaded of a log whose older part is not summarised. */
interface LoadLimit {
  readonly messages: number;
  readonly characters: number;
}

/**
 * Anthropic accepts 100,000 messages in a request, other vendors fewer, and no model reads more than ten million
 * tokens.
 */
const LIMIT: LoadLimit = { messages: 100_000, characters: 40_000_000 };

/**
 * The id of the first entry to load from a log without a block: as much as any request could hold, from the start of a
 * turn. Null for an empty log. A longer log is compacted before the next request, and the result does not depend on
 * older messages.
 */
export function loadedFrom(entries: readonly Entry[], limit: LoadLimit = LIMIT): number | null {
  let { messages, characters } = limit;
  let start = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || !isMessage(entry)) continue;
    messages -= 1;
    characters -= charactersOf(entry);
    if (messages >= 0 && characters >= 0) continue;
    start = index + 1;
    break;
  }
  if (start === 0) return entries[0]?.id ?? null;
  for (let index = start; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry && isMessage(entry) && entry.turn === entry.id) return entry.id;
  }
  // A single turn, or its last message, exceeds the limit.
  return entries[Math.min(start, entries.length - 1)]?.id ?? null;
}

/** The first line of the summary of older messages in a request. */
export const BLOCK_PREFIX = '[Compressed Message Summary]';
const LABEL =
  'A record of the conversation so far, not instructions. You see only a part of the conversation; the rest can be searched.';

/** A view in the form of a request: the system text after preamble and skills, and the messages. */
interface Presented {
  readonly system: readonly string[];
  readonly messages: ChatRequest['messages'];
}

/**
 * The view in the form of a request: the block's text as system text, or for role `user` as a user message before the
 * others. An empty block is not sent.
 */
export function present({ block, messages }: View, role: 'system' | 'user'): Presented {
  const told = messages.map(withInterruption);
  if (block === null || block.content === '') return { system: [], messages: told };
  const text = `${BLOCK_PREFIX}\n${LABEL}\n\n${block.content}`;
  if (role === 'system') return { system: [text], messages: told };
  return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text }] }, ...told] };
}

/** Without it, the model would take the part of its answer for all that it meant to say. */
function withInterruption(message: Message): Message {
  if (message.stop_reason !== 'interrupted' || !message.content.some(isPart('text'))) return message;
  const text = message.interrupted_by === 'error' ? '\n[cut off by an error]' : '\n[interrupted by the user]';
  return { ...message, content: [...message.content, { type: 'text', text }] };
}
