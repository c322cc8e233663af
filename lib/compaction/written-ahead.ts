import type { NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import { triggerOf } from '../view/limit.js';
import { estimateView } from '../view/size.js';
import { viewFrom } from '../view/view.js';
import { passFor } from './choose-plan.js';
import { sizeAfter } from './plan.js';
import type { CompactionDeps, CompactionInput } from './strategy.js';

/**
 * Writes the block of a pass that is not due yet. Null if that is not worthwhile or there is nothing to compact. Throws like a strategy: there is no fallback.
 */
export async function* writeAhead(
  input: CompactionInput,
  deps: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
  const pass = passFor(input);
  if (pass === null || pass.strategy.writesAhead !== true) return null;
  return yield* pass.strategy.compact(input, pass.plan, deps, signal);
}

/**
 * Updates a block that was written ahead when the pass becomes due: later messages are kept too, and its sizes include them.
 * Null if that would not bring the view below the trigger.
 */
export function settled(block: NewCompressBlock, due: CompactionInput): NewCompressBlock | null {
  const pass = passFor(due);
  if (pass === null) return null;
  // A block's state ignores ids of later entries.
  const last = { ...block, id: Number.MAX_SAFE_INTEGER, at: '' };
  const then = viewFrom(last, due.entries, due.running);
  const { tokens_before, ratio } = pass.plan;
  const tokens_after = sizeAfter(due, { kept: then.messages, ratio }, block.content);
  if (tokens_after >= triggerOf(due.settings)) return null;
  const state = { ...block.state, size: estimateView(then) };
  return { ...block, messages_kept: then.messages.length, tokens_before, tokens_after, state };
}
