import { createHash } from 'node:crypto';
import { type CompressBlock, type Entry, isAside, isMessage } from '../chat/entry.js';
import { isJsonObject, type JsonObject } from '../chat/json.js';
import { citedIn } from '../chat/marked-text.js';
import { decodeEntry } from '../history/file/decode-entry.js';
import type { ConversationReading } from '../history/open-reading.js';
import { blockCiting, parse, proseOf, type Skipped, skippedLine, stateOf } from '../view/block-state.js';
import { keptBy, newestBase } from '../view/view.js';
import { type MessageName, messageName, type SummaryItem, type TurnItem } from './items.js';
import type { KnownTurns } from './known-turns.js';
import type { News } from './news.js';
import { later, type SharedHistory } from './standing.js';
import type { MachineState } from './state.js';

/** The newest summary of a conversation, and what the ids in it name. */
export interface NamedSummary {
  readonly block: CompressBlock;
  /** Changes with every other text. */
  readonly digest: string;
  readonly names: readonly (readonly [id: number, name: MessageName])[];
}

/** The newest summary here; null if there is none. */
export function newestSummary(entries: readonly Entry[]): Omit<NamedSummary, 'names'> | null {
  const block = newestBase(entries.filter((entry) => !isAside(entry)));
  if (block === null || block.content === '') return null;
  const text = JSON.stringify([proseOf(block), stateOf(block).facts]);
  return { block, digest: createHash('sha256').update(text).digest('base64url').slice(0, 11) };
}

/** What the ids in a summary name, on every machine. */
export async function namesIn(
  { block }: Pick<NamedSummary, 'block'>,
  history: SharedHistory,
  known: KnownTurns,
): Promise<NamedSummary['names']> {
  const { facts, record } = stateOf(block);
  const ids = new Set([...citedIn(`${block.content}\n${record ?? ''}`), ...facts.flatMap((fact) => fact.ids ?? [])]);
  return await reading(history, (conversation) =>
    [...ids].flatMap((id): NamedSummary['names'] => {
      const [message] = entriesFrom(conversation, id);
      if (message?.id !== id || !isMessage(message)) return [];
      const turn = known.nameOf(message.turn);
      return turn === null ? [] : [[id, messageName(turn, message)]];
    }),
  );
}

/** A summary as it travels. `own` is the id of this machine. */
export function summaryItem(
  { block, names }: NamedSummary,
  entries: readonly Entry[],
  known: KnownTurns,
  machines: Readonly<Record<string, MachineState>>,
  own: string,
): SummaryItem {
  const isKept = keptBy(block, entries);
  const kept: Record<string, string> = {};
  for (const entry of entries) {
    if (!isMessage(entry) || isAside(entry) || !isKept(entry)) continue;
    const turn = known.nameOf(entry.turn);
    if (turn !== null) kept[entry.from ?? own] ??= turn;
  }
  const newest = Object.entries(machines).map(([id, { recent }]) => [
    id,
    recent.filter((turn) => known.idOf(turn) !== null),
  ]);
  const { facts, forgotten, artifacts, language, prose, record, skipped } = stateOf(block);
  const { content, strategy, source, rests_on, messages_compacted, tokens_before, tokens_after } = block;
  const state = { facts, forgotten, artifacts, language, prose, record, skipped };
  const text = { content, strategy, source, rests_on, messages_compacted, tokens_before, tokens_after, state };
  return {
    kind: 'block',
    turns: known.here,
    block: JSON.parse(JSON.stringify(text)),
    names,
    first: Object.fromEntries(
      Object.entries(machines).flatMap(([id, { first }]) => (first === null ? [] : [[id, first]])),
    ),
    newest: Object.fromEntries(newest),
    kept,
  };
}

/**
 * The summary of the machine that had the most turns, among those that have forgotten all that was forgotten; null if
 * there is none.
 */
export function bestSummary(news: readonly Pick<News, 'summary' | 'forgotten'>[]): SummaryItem | null {
  const forgotten = news.flatMap((one) => [...one.forgotten]);
  const usable = news.flatMap(({ summary, forgotten: own }) =>
    summary !== null && forgotten.every((id) => own.has(id)) ? [summary] : [],
  );
  return usable.reduce<SummaryItem | null>((best, one) => (one.turns > (best?.turns ?? -1) ? one : best), null);
}

/** The turns that come before a summary. */
export class Coverage {
  readonly #summary: SummaryItem;
  /** Of those that it does not cover, as its machine was reset. */
  skipped: Skipped | null = null;

  constructor(summary: SummaryItem) {
    this.#summary = summary;
  }

  /** Whether a turn of a machine comes before it, asked in their order. Of a machine that it does not know, none. */
  of(machine: string): (turn: TurnItem) => boolean {
    const { newest, kept, first } = this.#summary;
    const known = new Set(newest[machine] ?? []);
    let before: Skipped | null = null;
    let isBefore = first[machine] !== undefined;
    let isAtEnd = false;
    let isOver = known.size === 0;
    return ({ turn, messages }) => {
      if (isBefore && turn === first[machine]) {
        isBefore = false;
        this.skipped = together(this.skipped, before);
      }
      const isKnown = known.has(turn);
      isOver ||= turn === kept[machine] || (isAtEnd && !isKnown);
      isAtEnd ||= isKnown;
      if (isBefore && !isOver) before = together(before, skippedIn(messages));
      return !isOver;
    };
  }
}

function skippedIn(messages: readonly JsonObject[]): Skipped {
  const times = messages.map(({ at }) => String(at)).sort();
  return { messages: messages.length, from: times[0] ?? '', until: times.at(-1) ?? '' };
}

function together(one: Skipped | null, other: Skipped | null): Skipped | null {
  if (one === null || other === null) return one ?? other;
  const [from, until] = [one.from < other.from ? one.from : other.from, later(one.until, other.until)];
  return { messages: one.messages + other.messages, from, until };
}

/**
 * A summary that came, as the block behind the turns that it covers, and those of `skipped`; null if it cannot be read.
 */
export async function arrivedBlock(
  { block, names }: SummaryItem,
  skipped: Skipped | null,
  history: SharedHistory,
  known: KnownTurns,
): Promise<((id: number, at: string) => CompressBlock | null) | null> {
  const { content, state } = block;
  if (typeof content !== 'string' || !isJsonObject(state)) return null;
  const ids = await reading(history, (conversation) => {
    return new Map(
      names.flatMap(([id, name]) => idNamed(conversation, known, name).map((here) => [id, here] as const)),
    );
  });
  const cited = blockCiting(content, state, (id) => ids.get(id) ?? null);
  const told = skipped === null ? cited : withSkipped(cited, skipped);
  return (id, at) => {
    const element: JsonObject = { ...block, ...told, id, at, type: 'compress', first_kept: null, messages_kept: 0 };
    const entry = decodeEntry(element, () => JSON.stringify(element));
    return entry !== null && 'type' in entry && entry.type === 'compress' ? entry : null;
  };
}

function withSkipped(
  { content, state }: ReturnType<typeof blockCiting>,
  more: Skipped,
): ReturnType<typeof blockCiting> {
  const before = parse(state, { id: 0, content }).skipped;
  const skipped = together(before, more);
  const rest = before === null ? content : content.replace(`\n\n${skippedLine(before)}`, '');
  return { content: `${rest}\n\n${skippedLine(skipped)}`, state: { ...state, skipped } };
}

/** The id of the message with that name; nothing if it is not here. */
function idNamed(reading: ConversationReading, known: KnownTurns, [name, at, role]: MessageName): readonly number[] {
  const turn = known.idOf(name);
  if (turn === null) return [];
  for (const entry of entriesFrom(reading, turn)) {
    if (!isMessage(entry) || entry.turn !== turn) return [];
    if (entry.at === at && entry.role === role) return [entry.id];
  }
  return [];
}

/** Runs `work` with the conversation as it is on disk; again if it was damaged and is repaired. */
async function reading<Result>(
  history: SharedHistory,
  work: (reading: ConversationReading) => Result,
  tries = 2,
): Promise<Result> {
  const conversation = await history.reading();
  try {
    return work(conversation);
  } catch (thrown) {
    if (tries === 1) throw thrown;
    await conversation.recover(thrown);
  } finally {
    conversation.close();
  }
  return await reading(history, work, tries - 1);
}

/** The entries from an id on, oldest first. */
function* entriesFrom(conversation: ConversationReading, id: number): Generator<Entry> {
  const { pieces } = conversation;
  for (let at = pieceWith(conversation, id); at < pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece === undefined) continue;
    for (const { entry } of conversation.readFrom(piece, 0)) if (entry.id >= id) yield entry;
  }
  for (const entry of conversation.rest()) if (entry.id >= id) yield entry;
}

/** The index of the last piece that begins at or before an id. */
function pieceWith(conversation: ConversationReading, id: number): number {
  const { pieces } = conversation;
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const piece = pieces[middle];
    const [first] = piece === undefined ? [] : conversation.readFrom(piece, 0);
    if ((first?.entry.id ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
