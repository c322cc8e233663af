import { type Entry, isCompressBlock, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { stateOf } from './block-state.js';
import { isLong, lastGroup, sentCharacters, validCuts, withNames } from './shorten.js';
import { isNote, type View } from './view.js';

/** How much may be in view after a pause, and how much stays, in tokens. */
export interface RestSizes {
  readonly limit: number;
  readonly cool_limit: number;
  readonly keep: number;
  readonly block: number;
}

/** The pauses after which messages leave the view, in milliseconds. */
export interface RestTimes {
  /** The pause after which the server has forgotten the prompt. */
  readonly cache_life: number;
  /** The pause after which less stays in view, `view.rest`. */
  readonly after: number;
}

/** When a conversation is at rest, and how much stays. */
export interface Rest {
  /** `cool`: the server has forgotten the prompt. `long`: what was in use before is not any more. */
  readonly pause: 'cool' | 'long';
  readonly sizes: RestSizes;
  /** The most messages that stay. */
  readonly keep_recent: number;
  /** Real tokens for one estimated token. */
  readonly ratio: number;
  /** What was sent before this time is no longer in use. ISO 8601, UTC. */
  readonly unused: string;
}

/** Smaller windows get shares of themselves, and in the smallest nothing rests. In tokens. */
const SMALL_WINDOW = 32_000;
const LEAST_WINDOW = 4000;
const SHARES = { limit: 0.25, cool_limit: 0.75, keep: 0.12, block: 0.08 };

/** The sizes for a window, null if nothing rests in it. */
export function restSizes(sizes: RestSizes, window: number): RestSizes | null {
  if (window < LEAST_WINDOW) return null;
  if (window >= SMALL_WINDOW) return sizes;
  const least = (name: keyof RestSizes): number => Math.min(sizes[name], Math.floor(SHARES[name] * window));
  return { limit: least('limit'), cool_limit: least('cool_limit'), keep: least('keep'), block: least('block') };
}

/**
 * The pause before a message at this time, null while the server still has the prompt. What the user brought back
 * counts as new; the output of a local command, which was not sent, does not.
 */
export function pauseBefore(now: Date, entries: readonly Entry[], times: RestTimes): Rest['pause'] | null {
  const isSaid = (entry: Entry): boolean =>
    isCompressBlock(entry) ? entry.restores !== undefined : isMessage(entry) && !isNote(entry);
  const newest = entries.findLast(isSaid);
  // What another machine said may have arrived after what was said later here.
  const here = entries.findLast((entry) => isSaid(entry) && !(isMessage(entry) && entry.from !== undefined));
  const last = Math.max(Date.parse(newest?.at ?? ''), Date.parse(here?.at ?? newest?.at ?? ''));
  const pause = newest === undefined ? 0 : now.getTime() - last;
  if (!(pause > times.cache_life)) return null;
  return pause > times.after ? 'long' : 'cool';
}

/** Whether so much is in view that a part of it leaves. */
export function isRestDue(view: View, rest: Rest): boolean {
  const { limit, cool_limit } = rest.sizes;
  const used = new Set(rest.pause === 'long' ? [] : inUse(view, rest));
  const characters = sentCharacters(view.messages.filter((message) => !used.has(message)));
  const tokens = (characters + (view.block?.content.length ?? 0)) / 4;
  return rest.ratio * tokens > (rest.pause === 'long' ? limit : cool_limit);
}

/** What stays in view at a rest. */
export interface Staying {
  /** The messages that stay, as they are sent from now on. */
  readonly kept: readonly Message[];
  readonly leaving: readonly Message[];
  /** The index of the first message after which all stay. */
  readonly cut: number;
  /** Those of which long texts are sent as their names, beginnings and ends. */
  readonly named: readonly number[];
}

/**
 * What stays: the output of commands that the user has just run; the last exchange; the newest exchanges before it as a
 * whole while they fit, those of scripts only if there are no others; what is pinned; and long texts in use, after a
 * long pause only their names and ends.
 */
export function stayingAt(view: View, rest: Rest): Staying {
  const { messages, pinned = NONE } = view;
  const added = justAdded(view, rest);
  const turns = turnsIn(messages.filter(({ id }) => !pinned.has(id) && !added.has(id)));
  const long = rest.pause === 'long' ? toName(view, turns) : inUse(view, rest);
  // What was named once stays so, also if the next rest finds it among the newest messages.
  const named = new Set(stateOf(view.block).named);
  if (rest.pause === 'long') for (const { id } of long) named.add(id);
  const shown = (message: Message): Message => (named.has(message.id) ? withNames(message) : message);
  const stays = new Set([...pinned, ...added, ...long.map(({ id }) => id), ...newestOf(turns, rest, shown)]);
  let cut = messages.length;
  while (cut > 0 && stays.has(messages[cut - 1]?.id ?? 0)) cut -= 1;
  return {
    kept: messages.filter(({ id }) => stays.has(id)).map(shown),
    leaving: messages.filter(({ id }) => !stays.has(id)),
    cut,
    named: messages.filter(({ id }) => stays.has(id) && named.has(id)).map(({ id }) => id),
  };
}

const NONE: ReadonlySet<number> = new Set();

/** The notes since the newest exchange that are still in use: the user is about to ask about them. */
function justAdded({ messages }: View, { unused }: Rest): ReadonlySet<number> {
  const last = messages.findLastIndex((message) => !isNote(message) || message.at < unused);
  return new Set(messages.slice(last + 1).map(({ id }) => id));
}

/** How many of the newest exchanges, and of the newest long texts, count as in use. */
const RECENT = 3;

/** The messages with long texts that are still in use: of the last exchanges, or sent since. */
function inUse({ messages, pinned = NONE }: View, { unused }: Rest): readonly Message[] {
  const recent = new Set(turnsIn(messages).slice(-RECENT).flat());
  const isUsed = (message: Message): boolean => recent.has(message) || message.at >= unused;
  return messages.filter((message) => !pinned.has(message.id) && isLong(message) && isUsed(message));
}

/**
 * The messages whose long texts are named after a long pause: the newest ones, and those of the last exchanges that are
 * named already.
 */
function toName({ block }: View, turns: readonly (readonly Message[])[]): readonly Message[] {
  const { named } = stateOf(block);
  const recent = turns.slice(-RECENT).flat();
  return [...turns.flat().filter(isLong).slice(-RECENT), ...recent.filter(({ id }) => named.includes(id))];
}

function turnsIn(messages: readonly Message[]): readonly (readonly Message[])[] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const newest = turns.at(-1);
    if (newest?.[0]?.turn === message.turn) newest.push(message);
    else turns.push([message]);
  }
  return turns;
}

function newestOf(
  turns: readonly (readonly Message[])[],
  { sizes, keep_recent, ratio }: Rest,
  shown: (message: Message) => Message,
): readonly number[] {
  const sizeOf = (messages: readonly Message[]): number => sentCharacters(messages.map(shown));
  const last = turns.at(-1) ?? [];
  const limit = (4 * sizes.keep) / ratio;
  let kept = lastExchange(last, limit, keep_recent, sizeOf);
  let room = limit - sizeOf(kept);
  const hasOwn = turns.some((turn) => !isScript(turn));
  for (const turn of turns.slice(0, -1).reverse()) {
    if (hasOwn && isScript(turn)) continue;
    room -= sizeOf(turn);
    if (room < 0 || kept.length + turn.length > keep_recent) break;
    kept = [...turn, ...kept];
  }
  return kept.map(({ id }) => id);
}

const isScript = ([first]: readonly Message[]): boolean => first?.via === 'script';

/** The whole turn if it fits, else the question and the end of the answer, at least its last message. */
function lastExchange(
  turn: readonly Message[],
  limit: number,
  most: number,
  sizeOf: (messages: readonly Message[]) => number,
): readonly Message[] {
  if (turn.length <= most && sizeOf(turn) <= limit) return turn;
  const [asked, ...rest] = turn;
  if (asked === undefined || rest.length === 0) return turn;
  const cuts = validCuts(rest);
  const room = limit - sizeOf([asked]);
  const fits = (at: number): boolean => rest.length - at < most && sizeOf(rest.slice(at)) <= room;
  const from = cuts.findIndex((isValid, at) => isValid && at < lastGroup(rest) && fits(at));
  return [asked, ...rest.slice(from < 0 ? lastGroup(rest) : from)];
}
