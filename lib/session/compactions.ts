import { type CompressBlock, type Entry, isCompressBlock, isMessage, REST } from '../chat/entry.js';
import { asTokens, type Tokens } from '../chat/request.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import { pinsOver } from '../view/block-state.js';
import type { Measure } from '../view/measure.js';
import { charactersOf, estimateView } from '../view/size.js';
import { cutOf, isWhole, newestBlock, viewFrom } from '../view/view.js';

const CHANGED = 'A part of the conversation was removed in the meantime.';

/** Every compaction of the conversation, oldest first, including the blocks that undo one. Reads the whole history. */
export async function compactionsOf(history: HistoryStore): Promise<readonly CompressBlock[]> {
  await history.refresh();
  const blocks: CompressBlock[] = [];
  for await (const entry of history.conversation()) if (isCompressBlock(entry) && !isWhole(entry)) blocks.push(entry);
  return blocks;
}

/** The ids of the compactions that were undone. */
export function takenBack(blocks: readonly CompressBlock[]): ReadonlySet<number> {
  const taken = new Set<number>();
  for (const [index, { restores }] of blocks.entries()) {
    if (restores === undefined) continue;
    for (const { id } of blocks.slice(0, index)) if (id > restores) taken.add(id);
  }
  return taken;
}

/** Whether the last compaction was made after the entry with this id, and not because of a pause. */
export function isCompactedSince(history: HistoryStore, id: number): boolean {
  const block = newestBlock(history.entries);
  return block !== null && block.id > id && block.restores === undefined && block.strategy !== REST && !isWhole(block);
}

/** The view after a compaction is undone. */
export interface Restored {
  readonly messages: number;
  readonly tokens: Tokens;
}

/**
 * Undoes the last compaction, with a block that restores the one before it. Throws a `HiError` of code `usage` if there
 * is none, or if what it replaced does not fit or is gone.
 */
export async function uncompact(
  history: HistoryStore,
  { context_tokens, trigger }: Measure,
  token_ratio: number,
): Promise<Restored> {
  const blocks = await compactionsOf(history);
  const { edition } = history;
  const before = effectiveBefore(blocks);
  const entries = await entriesFrom(history, before, 4 * trigger);
  const now = history.view(null);
  const block = entries === null ? null : blockRestoring(before, entries);
  // A block ignores ids of entries that come after it.
  const last = { id: Number.MAX_SAFE_INTEGER, at: '' };
  const then = block === null || entries === null ? null : viewFrom({ ...block, ...last }, entries, null);
  const size = then === null ? trigger : estimateView(then);
  const tokens = asTokens(context_tokens + Math.ceil((size - estimateView(now)) * token_ratio));
  if (block === null || then === null || tokens >= trigger) throw doesNotFit(tokens, trigger, then === null);
  if (then.messages.length <= now.messages.length) {
    throw new HiError('usage', 'The messages that the last compaction replaced are gone.', {
      hint: "With `compaction.archive` 'discard' the originals are removed.",
    });
  }
  const sizes = { messages_kept: then.messages.length, tokens_before: asTokens(context_tokens), tokens_after: tokens };
  const written = history.compact(
    null,
    () => {
      if (edition !== history.edition) throw new HiError('history', CHANGED, { hint: 'Try again.' });
      return yielding({ ...block, ...sizes });
    },
    'keep',
  );
  for await (const event of written) if (event.type === 'notice') throw new HiError('history', event.text);
  return { messages: then.messages.length, tokens };
}

// The history expects a generator, because a model that writes a summary yields events.
async function* yielding<Block>(block: Block): AsyncGenerator<never, Block> {
  yield* [];
  return block;
}

/** The block that was in effect before the last compaction that is still in effect; null for none. */
function effectiveBefore(blocks: readonly CompressBlock[]): CompressBlock | null {
  const taken = takenBack(blocks);
  const standing = blocks.filter(({ id, restores }) => restores === undefined && !taken.has(id));
  if (standing.length === 0) throw new HiError('usage', 'There is no compaction to undo.');
  return standing.slice(0, -1).findLast(({ source }) => source !== 'fallback') ?? null;
}

/** The entries from the first that a block keeps; null if they have far more than `most` characters. */
async function entriesFrom(
  history: HistoryStore,
  block: CompressBlock | null,
  most: number,
): Promise<readonly Entry[] | null> {
  const from = block === null ? 0 : (block.first_kept ?? block.id);
  const entries: Entry[] = [];
  let characters = 0;
  for await (const entry of history.conversation()) {
    if (entry.id < from) continue;
    entries.push(entry);
    if (isMessage(entry)) characters += charactersOf(entry);
    // Some of them may be undone, or sent in a shorter form.
    if (characters > 4 * most) return null;
  }
  return entries;
}

function blockRestoring(
  block: CompressBlock | null,
  entries: readonly Entry[],
): Omit<CompressBlock, 'id' | 'at'> | null {
  const first = entries.find(isMessage);
  if (first === undefined) return null;
  const from = block === null ? first.turn : cutOf(block, entries).turn;
  const pinned = pinsOver(from, entries, newestBlock(entries), null);
  const state = block === null ? { cut: { turn: first.turn, id: first.id } } : block.state;
  return {
    type: 'compress',
    content: block?.content ?? '',
    strategy: 'none',
    source: block?.source ?? 'none',
    first_kept: block === null ? first.id : block.first_kept,
    messages_compacted: 0,
    messages_kept: 0,
    tokens_before: asTokens(0),
    tokens_after: asTokens(0),
    ...(block?.rests_on !== undefined && { rests_on: block.rests_on }),
    ...(state !== undefined && { state }),
    ...(pinned.length > 0 && { pins: { until: entries.at(-1)?.id ?? 0, messages: pinned } }),
    restores: block?.id ?? 0,
  };
}

function doesNotFit(tokens: number, trigger: number, isMore: boolean): HiError {
  const size = isMore ? 'far more tokens than fit' : `${tokens} tokens`;
  return new HiError(
    'usage',
    `Without the last compaction a request would have ${size}, and one is due at ${trigger}.`,
    {
      hint: 'Choose a model with a larger window, or find what you need with /find and keep it with /pin.',
    },
  );
}
