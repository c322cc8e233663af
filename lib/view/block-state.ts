import { type CompressBlock, type Entry, isForeignBlock } from '../chat/entry.js';
import { undoneTurns } from '../chat/entry-list.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../chat/json.js';
import { citingAs } from '../chat/marked-text.js';
import { type Message, type Part, type RestsOn, spokenParts } from '../chat/message.js';
import { quantity } from '../chat/text.js';

/** A fact that code copies from block to block, so that no summary can lose it. */
export type Fact = {
  readonly kind: FactKind;
  readonly text: string;
  /** The ids of the messages that support it, if the model named them. */
  readonly ids?: readonly number[];
  /** Set if the fact comes from the user's own words although the summary as a whole does not. */
  readonly rests_on?: 'own';
};

/** The kinds of facts, the least important first. */
export const FACT_KINDS = ['done', 'fact', 'open', 'decision', 'pref'] as const;
export type FactKind = (typeof FACT_KINDS)[number];

/** What tools did in the messages that a summary replaces. */
export type Artifacts = {
  readonly read: readonly string[];
  readonly written: readonly string[];
  /** How many commands were run. */
  readonly commands: number;
  /** Images and documents, by name. */
  readonly images: readonly string[];
};

/**
 * What a block stores in addition to its text. Compaction has no other state: everything is read back from the newest
 * block, so that another process and the next start continue exactly where this one stopped.
 */
export type BlockState = {
  /**
   * The position of the first kept message: later turns are sent, and that turn from this id on. Null in a block of
   * unknown origin.
   */
  readonly cut: { readonly turn: number; readonly id: number } | null;
  /** Messages before the cut that are still sent: the newest user message, and turns that ended late. */
  readonly also: readonly number[];
  /** Turns before the cut that were unfinished when the block was made: they are sent once they are finished. */
  readonly open: readonly number[];
  /** Messages whose large results and images are sent shortened. */
  readonly pruned: readonly number[];
  /** The chars/4 estimate of the view right after the compaction, to detect growth. */
  readonly size: number | null;
  /** Real tokens for one estimated token, by model, as measured before. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly facts: readonly Fact[];
  /** How many facts were dropped for lack of room. */
  readonly forgotten: number;
  readonly artifacts: Artifacts;
  /** The language the user writes in, in English; null when unknown. */
  readonly language: string | null;
  /** How many characters of the content are the summary's prose; the rest is generated from the fields above. */
  readonly prose: number;
  /** The whole prose, if the content has only a part of it. */
  readonly record: string | null;
  /**
   * The position of the first message that left the view and is not summarised yet; null if there is none. The next
   * summary begins there.
   */
  readonly covered: { readonly turn: number; readonly id: number } | null;
  /** The messages that left and will not be summarised unless the user asks for it; null for none. */
  readonly skipped: Skipped | null;
  /** Messages whose long texts are sent as their names, beginnings and ends. */
  readonly named: readonly number[];
};

/** Messages that no summary covers, and when they were written: ISO 8601, or empty if unknown. */
export type Skipped = { readonly messages: number; readonly from: string; readonly until: string };

/** The line about messages that no summary covers; empty if there are none. */
export function skippedLine(skipped: Skipped | null): string {
  if (skipped === null) return '';
  const [from, until] = [skipped.from.slice(0, 10), skipped.until.slice(0, 10)];
  const when = from === until ? `of ${until}` : from === '' ? `until ${until}` : `from ${from} to ${until}`;
  return `${quantity(skipped.messages, 'message')} ${when} ${skipped.messages === 1 ? 'is' : 'are'} neither in this summary nor below, but can be searched.`;
}

export const NO_ARTIFACTS: Artifacts = { read: [], written: [], commands: 0, images: [] };

const EMPTY: BlockState = {
  cut: null,
  also: [],
  open: [],
  pruned: [],
  size: null,
  ratios: {},
  facts: [],
  forgotten: 0,
  artifacts: NO_ARTIFACTS,
  language: null,
  prose: 0,
  record: null,
  covered: null,
  skipped: null,
  named: [],
};

const READ = new WeakMap<CompressBlock, BlockState>();

/**
 * The state of a block. Missing and invalid fields, and ids of later entries, are ignored, so that a block edited by
 * hand still works.
 */
export function stateOf(block: CompressBlock | null): BlockState {
  if (block === null) return EMPTY;
  const known = READ.get(block);
  if (known) return known;
  const state = parse(block.state ?? {}, block);
  READ.set(block, state);
  return state;
}

/** The summary's prose as a whole, also if only a part of it is sent. */
export function proseOf(block: CompressBlock | null): string {
  const { record, prose } = stateOf(block);
  return record ?? block?.content.slice(0, prose) ?? '';
}

/**
 * The text of a stored block, and its state, with other ids in its citations and facts, without those for which there
 * is none. Its prose may get another length.
 */
export function blockCiting(
  content: string,
  state: JsonObject,
  newId: (id: number) => number | null,
): { readonly content: string; readonly state: JsonObject } {
  const { prose: length, record, facts } = state;
  const end = typeof length === 'number' ? length : content.length;
  const prose = citingAs(content.slice(0, end), newId);
  const moved = (fact: JsonValue): JsonValue =>
    isJsonObject(fact) && Array.isArray(fact.ids) ? { ...fact, ids: newIdsIn(fact.ids, newId) } : fact;
  return {
    content: prose + citingAs(content.slice(end), newId),
    state: {
      ...state,
      ...(typeof length === 'number' ? { prose: prose.length } : {}),
      ...(typeof record === 'string' ? { record: citingAs(record, newId) } : {}),
      ...(Array.isArray(facts) ? { facts: facts.map(moved) } : {}),
    },
  };
}

/** A stored list of ids with other ids, without those for which there is none. */
export function newIdsIn(ids: readonly JsonValue[], newId: (id: number) => number | null): readonly JsonValue[] {
  return ids.flatMap((id): readonly JsonValue[] => {
    const found = typeof id === 'number' ? newId(id) : id;
    return found === null ? [] : [found];
  });
}

/** What a fact of a block rests on. */
export function restOf({ rests_on }: Fact, block: CompressBlock): RestsOn {
  return rests_on === 'own' || !isForeignBlock(block) ? 'own' : 'foreign';
}

/** The state in a stored object, of a block with that id and content. */
export function parse(state: JsonObject, { id: last, content }: Pick<CompressBlock, 'id' | 'content'>): BlockState {
  const earlier = (value: JsonValue | undefined): number | null => {
    const named = integer(value);
    return named !== null && named <= last ? named : null;
  };
  const position = (value: JsonValue | undefined): BlockState['cut'] => {
    const { turn: inTurn, id: from } = isJsonObject(value) ? value : {};
    const [turn, id] = [earlier(inTurn), earlier(from)];
    return turn === null || id === null ? null : { turn, id };
  };
  const artifacts = isJsonObject(state.artifacts) ? state.artifacts : {};
  return {
    cut: position(state.cut),
    also: list(state.also, earlier),
    open: list(state.open, earlier),
    pruned: list(state.pruned, earlier),
    size: integer(state.size),
    ratios: numbers(state.ratios),
    facts: list(state.facts, fact),
    forgotten: integer(state.forgotten) ?? 0,
    artifacts: {
      read: list(artifacts.read, string),
      written: list(artifacts.written, string),
      commands: integer(artifacts.commands) ?? 0,
      images: list(artifacts.images, string),
    },
    language: string(state.language),
    prose: Math.min(integer(state.prose) ?? content.length, content.length),
    record: string(state.record),
    covered: position(state.covered),
    skipped: skipped(state.skipped),
    named: list(state.named, earlier),
  };
}

function skipped(value: JsonValue | undefined): Skipped | null {
  if (!isJsonObject(value)) return null;
  const messages = integer(value.messages) ?? 0;
  return messages > 0 ? { messages, from: string(value.from) ?? '', until: string(value.until) ?? '' } : null;
}

function fact(value: JsonValue): Fact | null {
  if (!isJsonObject(value) || typeof value.text !== 'string') return null;
  const kind = FACT_KINDS.find((known) => known === value.kind);
  const ids = list(value.ids, integer);
  const isOwn = value.rests_on === 'own';
  return kind ? { kind, text: value.text, ...(ids.length > 0 && { ids }), ...(isOwn && { rests_on: 'own' }) } : null;
}

function numbers(value: JsonValue | undefined): Record<string, number> {
  const pairs = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(pairs.flatMap(([key, number]) => (typeof number === 'number' ? [[key, number]] : [])));
}

function list<Item>(value: JsonValue | undefined, item: (value: JsonValue) => Item | null): readonly Item[] {
  if (!Array.isArray(value)) return [];
  return value.map((element: JsonValue) => item(element)).filter((found) => found !== null);
}

function integer(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

function string(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * The messages that the user keeps through compactions, by id: those in the block, and what was pinned and unpinned
 * since. While a turn runs, later marks do not count, so that each of its requests extends the one before.
 */
export function pinnedIn(
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): ReadonlyMap<number, Message> {
  const pinned = markedIn(entries, block, running);
  if (pinned.size === 0) return pinned;
  const undone = undoneTurns(entries);
  return new Map([...pinned].filter(([, { turn }]) => !undone.has(turn)));
}

/**
 * The pinned messages that a new block must contain, those in undone turns after its cut included, because the user may
 * redo these.
 */
export function pinsOver(
  cut: number,
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): readonly Message[] {
  const undone = undoneTurns(entries);
  return [...markedIn(entries, block, running).values()].filter(({ turn }) => !undone.has(turn) || turn > cut);
}

/** The messages that are pinned now, in undone turns too. */
function markedIn(
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): ReadonlyMap<number, Message> {
  const { until = 0, messages = [] } = block?.pins ?? {};
  const pinned = new Map(messages.map((message) => [message.id, message]));
  for (const entry of entries) {
    if (!('type' in entry) || entry.id <= until || (running !== null && entry.id > running)) continue;
    if (entry.type === 'pin') pinned.set(entry.message.id, entry.message);
    else if (entry.type === 'unpin') for (const id of entry.messages) pinned.delete(id);
  }
  return pinned;
}

/** The messages with the pinned ones that are not among them, each in its place. */
export function withPinned(messages: readonly Message[], pinned: ReadonlyMap<number, Message>): readonly Message[] {
  if (pinned.size === 0) return messages;
  const sent = new Set(messages.map(({ id }) => id));
  const more = [...pinned.values()].filter(({ id }) => !sent.has(id));
  if (more.length === 0) return messages;
  return [...more, ...messages].sort((one, other) => one.turn - other.turn || one.id - other.id);
}

/** The part of a message that is pinned: its text, images and documents. */
export function pinnable({ id, turn, at, role, content, cwd }: Message): Message {
  const kept = spokenParts(content).flatMap((part): Part[] => {
    if (part.type === 'image' || part.type === 'document') return [part];
    if (part.type !== 'text' || part.text === '') return [];
    return [{ type: 'text', text: part.text }];
  });
  return { id, turn, at, role, content: kept, cwd };
}
