import { createHash } from 'node:crypto';
import type { CompressBlock } from '../chat/entry.js';
import { undoneIds } from '../chat/entry-list.js';
import type { ChatEvent } from '../chat/event.js';
import { isJsonObject } from '../chat/json.js';
import type { Message } from '../chat/message.js';
import { asTokens, type TextCache } from '../chat/request.js';
import { type BlockState, parse, proseOf, stateOf } from '../view/block-state.js';
import { LEAST_PROSE } from '../view/measure.js';
import { withNames } from '../view/shorten.js';
import { artifactRoom, factRoom } from '../view/size.js';
import { collectArtifacts } from './compress-block.js';
import { languageOf, summaryInput } from './prompt.js';
import type { CompactionDeps, CompactionInput } from './strategy.js';
import { summarise } from './summarise.js';

/** Messages that left the view without a summary, oldest first, and the block that their summary continues. */
export interface Gap {
  readonly block: CompressBlock | null;
  readonly messages: readonly Message[];
}

/**
 * A summary that includes what left the view at a rest: the fields of a block's state that it changes, and its whole
 * prose.
 */
export type RestRecord = Pick<BlockState, 'facts' | 'forgotten' | 'artifacts' | 'language'> & {
  readonly prose: string;
};

/** A message is read with its long texts cut, so that a paste does not take the room of a whole conversation. */
const inputOf = (message: Message): string => summaryInput(withNames(message), Number.POSITIVE_INFINITY);

/** How many characters of a message a summary reads. */
export const sizeForRecord = (message: Message): number => inputOf(message).length;

/** How many tokens of what left long ago are summarised without being asked for. */
const BACKLOG = 24_000;

/** The index of the first of these messages that is summarised unasked. */
export function backlogStart(messages: readonly Message[], ratio: number): number {
  let room = (4 * BACKLOG) / ratio;
  const isTooMuch = (message: Message): boolean => {
    room -= sizeForRecord(message);
    return room < 0;
  };
  return messages.findLastIndex(isTooMuch) + 1;
}

/** The summary of this gap, if one was written; null if not. */
export async function findRecord(gap: Gap, cache: TextCache): Promise<RestRecord | null> {
  if (gap.messages.length === 0) return null;
  const text = await cache.get(keyOf(gap));
  return text === null ? null : readRecord(text);
}

/**
 * How often a summary of the same messages is begun: one that a model refuses, or that takes longer than anybody waits,
 * would be paid for with each question.
 */
const MOST_TRIES = 3;

/** Whether the summary of this gap was begun so often that it is left to the next rest. */
export const isGivenUp = async (gap: Gap, cache: TextCache): Promise<boolean> =>
  (await triesOf(gap, cache)) >= MOST_TRIES;

const triesOf = async (gap: Gap, cache: TextCache): Promise<number> => Number((await cache.get(triesKeyOf(gap))) ?? 0);

/** Writes the summary of this gap into the cache, in at most `budget` tokens of prose. Throws like `summarise`. */
export async function* writeRecord(
  gap: Gap,
  { entries, settings }: Pick<CompactionInput, 'entries' | 'settings'>,
  budget: number,
  deps: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, void> {
  const { block } = gap;
  await deps.cache.put(triesKeyOf(gap), String((await triesOf(gap, deps.cache)) + 1));
  const messages = gap.messages.map(withNames);
  const old = stateOf(block);
  const language = (await languageOf(messages)) ?? old.language;
  const { prose, ledger } = yield* summarise(
    {
      messages,
      unread: 0,
      all: true,
      earlier: proseOf(block),
      ledger: old,
      undone: undoneIds(entries),
      factRoom: factRoom(settings),
      context_window: settings.context_window,
      budget: asTokens(Math.max(LEAST_PROSE, Math.floor(budget / 64) * 64)),
      target_ratio: settings.target_ratio,
      focus: null,
      language,
      ratio: settings.token_ratio ?? 1,
      timeout_ms: settings.timeout_ms,
      idle_timeout_ms: settings.idle_timeout_ms,
      near: settings.near ?? settings,
    },
    deps,
    signal,
  );
  const artifacts = collectArtifacts(old.artifacts, gap.messages, deps.effects, artifactRoom(settings));
  const record: RestRecord = { prose, facts: ledger.facts, forgotten: ledger.forgotten, artifacts, language };
  await deps.cache.put(keyOf(gap), JSON.stringify(record));
}

/** Independent of the model and of how much may be sent, so that any process finds it. */
function keyOf({ block, messages }: Gap): string {
  const { facts } = stateOf(block);
  const content = JSON.stringify(['rest', proseOf(block), facts, messages.map(inputOf)]);
  return hashOf(content);
}

const triesKeyOf = (gap: Gap): string => hashOf(`tries ${keyOf(gap)}`);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function readRecord(text: string): RestRecord | null {
  try {
    const stored: unknown = JSON.parse(text);
    if (!isJsonObject(stored) || typeof stored.prose !== 'string') return null;
    const { facts, forgotten, artifacts, language } = parse({ ...stored, prose: 0 }, { id: 0, content: '' });
    return { prose: stored.prose, facts, forgotten, artifacts, language };
  } catch {
    return null;
  }
}
