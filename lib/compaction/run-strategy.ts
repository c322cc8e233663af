import { isMessage, type NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import type { Tokens } from '../chat/request.js';
import { HiError, isAbort } from '../errors.js';
import { pick } from '../registry.js';
import { estimateView, triggerOf } from '../view/size.js';
import { newestBlock, viewFrom } from '../view/view.js';
import { strategies } from './index.js';
import { sizeAfter } from './plan.js';
import type { CompactionDeps, CompactionInput, Plan, Strategy } from './strategy.js';
import { arrivalBlock, fallback } from './truncate.js';

/**
 * Runs one pass: plan, strategy, and if that fails the fallback. Yields events; returns the block to append, or null
 * when there is nothing to compact. A failed summary is not an error: it yields a warning and returns a fallback block.
 * Throws for an unknown strategy, and an abort error when cancelled.
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

/**
 * The block that keeps messages of other machines, which arrived since the last one from here, from making a compaction
 * due.
 */
export function blockAfterArrival(input: CompactionInput): NewCompressBlock {
  return arrivalBlock(input);
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

/**
 * The configured strategy and its plan, or null when there is nothing to compact. Pure. Throws for an unknown strategy.
 */
export function passFor(input: CompactionInput): { readonly strategy: Strategy; readonly plan: Plan } | null {
  const strategy = pick(strategies, input.settings.strategy, 'compaction strategy');
  if (isDone(input)) return null;
  const plan = strategy.plan(input);
  return plan.changes ? { strategy, plan } : null;
}

/** True when there are no messages since the last pass of this strategy, so that another pass would change nothing. */
function isDone({ entries, settings, reason }: CompactionInput): boolean {
  const block = newestBlock(entries);
  if (block === null || reason === 'overflow') return false;
  if (block.source === 'fallback' || block.strategy !== settings.strategy) return false;
  return !entries.some((entry) => isMessage(entry) && entry.id > block.id);
}

/** What a pass would do. */
export interface Preview {
  readonly strategy: string;
  readonly messages_compacted: number;
  readonly messages_kept: number;
  readonly tokens_before: Tokens;
  /** The size of the kept messages, without the summary. */
  readonly tokens_kept: Tokens;
}

/**
 * What `compact` would do with this input, or null when there is nothing to compact. Asks no model. Throws for an
 * unknown strategy.
 */
export function preview(input: CompactionInput): Preview | null {
  const pass = passFor(input);
  if (pass === null) return null;
  const { strategy, plan } = pass;
  return {
    strategy: strategy.name,
    messages_compacted: plan.leaving,
    messages_kept: plan.kept.length,
    tokens_before: plan.tokens_before,
    tokens_kept: sizeAfter(input, plan, ''),
  };
}

/**
 * Writes the block of a pass that is not due yet. Null if that is not worthwhile or there is nothing to compact. Throws
 * like a strategy: there is no fallback.
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
 * Updates a block that was written ahead when the pass becomes due: later messages are kept too, and its sizes include
 * them. Null if that would not bring the view below the trigger.
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
