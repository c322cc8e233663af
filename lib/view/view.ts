import { type CompressBlock, type Entry, isCompressBlock, isMessage, WHOLE } from '../chat/entry.js';
import { lastSkillMessage } from '../chat/entry-list.js';
import type { Message } from '../chat/message.js';
import { stateOf } from './block-state.js';
import { loadedFrom } from './load-limit.js';
import { pairedOnly } from './pairs.js';
import { pinnedIn, withPinned } from './pinned.js';
import { shortened, withNames } from './shorten.js';
import { type Turn, turnsOf } from './turns.js';

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
 * Only whole turns are in it, in the order they began, and last the one that is `running` in this process (a turn id, null between turns).
 * A message without content (an answer interrupted before its first word) is not sent: vendors answer 400 to it.
 * While a turn runs, what other processes finish meanwhile stays out, so that each of its requests extends the one before byte for byte.
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
 * The newest block that summarises what came before it, as if only what its text covers had left: the next summary covers the other messages too. A
 * fallback covers nothing.
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

/** The id of the oldest entry that any later view or compaction of this log can need; null when it needs none. The history opens from there. */
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
