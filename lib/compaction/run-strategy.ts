import type { NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import { HiError, isAbort } from '../errors.js';
import { triggerOf } from '../view/limit.js';
import { passFor } from './choose-plan.js';
import type { CompactionDeps, CompactionInput } from './strategy.js';
import { fallback } from './truncate.js';

/**
 * Runs one pass: plan, strategy, and if that fails the fallback. Yields events; returns the block to append, or null when there is nothing to compact.
 * A failed summary is not an error: it yields a warning and returns a fallback block. Throws for an unknown strategy, and an abort error when cancelled.
 */
export async function* runStrategy(
  input: CompactionInput,
  deps: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
  const pass = passFor(input);
  if (pass === null) {
    if (input.reason === 'manual') yield { type: 'notice', level: 'info', text: 'There is nothing to compact.' };
    return null;
  }
  try {
    return yield* pass.strategy.compact(input, pass.plan, deps, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof HiError) || isAbort(thrown)) throw thrown;
    return yield* fallBack(input, thrown.message);
  }
}

/** False for a manual pass below the trigger: if it fails, the view does not change. */
function isPressed({ reason, context_tokens = 0, settings }: CompactionInput): boolean {
  return reason !== 'manual' || context_tokens >= triggerOf(settings);
}

async function* fallBack(input: CompactionInput, why: string): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
  const block = fallback(input);
  if (!isPressed(input) || (input.reason === 'manual' && block.messages_compacted === 0)) {
    yield { type: 'notice', level: 'warning', text: `No summary was written: ${why} The conversation is unchanged.` };
    return null;
  }
  const sent =
    block.messages_kept === 1 ? 'Only the newest message is' : `Only the newest ${block.messages_kept} messages are`;
  const text = `No summary was written: ${why} ${sent} sent for now; the older ones are kept for the next summary.`;
  yield { type: 'notice', level: 'warning', text };
  return block;
}
