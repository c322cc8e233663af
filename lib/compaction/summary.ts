import { ARRIVAL, isCompressBlock, type NewCompressBlock } from '../chat/entry.js';
import { undoneIds } from '../chat/entry-list.js';
import type { ChatEvent } from '../chat/event.js';
import type { Message } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { HiError } from '../errors.js';
import { proseOf, stateOf } from '../view/block-state.js';
import { LEAST_PROSE } from '../view/measure.js';
import { effectiveWindow, estimateView, factRoom, totalCharacters } from '../view/size.js';
import { compressBlockOf, fixedContentOf, together } from './compress-block.js';
import { plan } from './plan.js';
import { languageOf } from './prompt.js';
import { backlogStart } from './rest-record.js';
import type { CompactionDeps, CompactionInput, Plan, Strategy } from './strategy.js';
import { type Summary, summarise } from './summarise.js';

/** Keeps the newest messages word for word; the older ones and the previous summary become one new summary. */
export const summary: Strategy = {
  name: 'summary',
  summary: 'keep the newest messages word for word and summarise the older ones',
  writes: true,
  writesAhead: true,
  plan: (input) => plan(input, { from: 'base', keep: () => recentOf(input), writes: true }),
  compact: (input, made, deps, signal) => summaryBlock(input, made, 'summary', deps, signal),
};

function recentOf({ settings, reason }: CompactionInput): number {
  return reason === 'overflow' ? Math.max(1, Math.floor(settings.keep_recent / 2)) : settings.keep_recent;
}

/**
 * Writes the summary that a plan requires; none if only results are shortened. Throws a `HiError` if no model can write
 * one, it is not smaller than what it replaces, or too many have failed before.
 */
export async function* summaryBlock(
  input: CompactionInput,
  made: Plan,
  strategy: string,
  deps: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
  if (!made.changes || isIneffective(input, made)) return null;
  const writes = made.compacted.length > 0 || made.condenses;
  if (writes) refuseAfterFailures(input);
  yield { type: 'compact-start', strategy, messages: made.leaving };
  const { block, messages } = made.basis;
  if (!writes) {
    return compressBlockOf(input, made, { content: block?.content ?? '', strategy, source: 'none' });
  }

  const { settings, focus } = input;
  const old = stateOf(block);
  const language = (await languageOf(messages)) ?? old.language;
  const earlier = proseOf(block);
  const from = isBacklog(input, made) ? backlogStart(made.compacted, made.ratio) : 0;
  const skipped = together(old.skipped, made.compacted.slice(0, from), from > 0 ? (input.unloaded ?? 0) : 0);
  const written = yield* summarise(
    {
      messages: made.compacted.slice(from),
      unread: made.leaving - made.compacted.length + from,
      all: input.all ?? false,
      earlier,
      ledger: old,
      undone: undoneIds(input.entries),
      factRoom: factRoom(settings),
      context_window: settings.context_window,
      budget: budgetOf(input, made, earlier),
      target_ratio: settings.target_ratio,
      focus,
      language,
      ratio: made.ratio,
      timeout_ms: settings.timeout_ms,
      idle_timeout_ms: settings.idle_timeout_ms,
      near: settings.near ?? settings,
    },
    deps,
    signal,
  );
  const { content, state } = fixedContentOf(made, written, language, settings, deps.effects, skipped);
  const [before, after] = [estimateView(made.basis), estimateTokens(content.length + totalCharacters(made.kept))];
  if (after >= before) {
    throw new HiError('malformed', `it would save nothing (${after} tokens with it, ${before} without).`);
  }
  const { source, writer, usage } = written;
  return compressBlockOf(input, made, {
    content,
    strategy,
    source,
    state,
    ...(writer === null ? {} : writtenBy(writer)),
    ...(usage === null ? {} : { usage }),
  });
}

/** Whether more would leave than a window holds, which nobody asked to summarise. */
function isBacklog({ settings, reason, unloaded = 0 }: CompactionInput, { basis, compacted, ratio }: Plan): boolean {
  if (settings.skips !== true || reason !== 'auto') return false;
  const isUnloaded = unloaded > 0 && basis.block === null;
  return isUnloaded || (ratio * totalCharacters(compacted)) / 4 > settings.context_window;
}

const writtenBy = ({ model, provider, api_base, server }: NonNullable<Summary['writer']>) => ({
  model,
  provider,
  ...(api_base !== undefined && { api_base }),
  ...(server !== undefined && { server }),
});

/** The most tokens of a summary. */
const LARGEST = 4096;

/**
 * True when the messages that would leave are shorter than any summary, as after a long paste into a short
 * conversation: the kept messages fill the window, and they still fit. A manual pass, and one after the provider
 * rejected a request, is tried all the same.
 */
function isIneffective({ reason, settings, context_tokens = 0 }: CompactionInput, made: Plan): boolean {
  const { basis, compacted, shortened } = made;
  const most = settings.max_input_tokens ?? settings.context_window;
  if (reason !== 'auto' || shortened.length > 0 || context_tokens > most) return false;
  return replacedBy(compacted, basis.block?.content ?? '') < LEAST_PROSE;
}

/** The tokens of what a summary replaces. */
function replacedBy(compacted: readonly Message[], earlier: string): Tokens {
  return estimateTokens(totalCharacters(compacted) + earlier.length);
}

/**
 * The most tokens of prose: the target share of what it replaces, at most a tenth of the effective window, and at most
 * the room there is.
 */
function budgetOf({ settings }: CompactionInput, { compacted, room }: Plan, earlier: string): Tokens {
  const share = Math.min(LARGEST, Math.max(512, effectiveWindow(settings) / 10));
  const budget = Math.min(settings.target_ratio * replacedBy(compacted, earlier), share, room);
  // Rounded, so that a repeated pass asks for the same length and finds the cached reply.
  return asTokens(Math.max(LEAST_PROSE, Math.floor(budget / 64) * 64));
}

/** After this many failures in a row no summary is attempted. */
const FAILURES = 3;

/**
 * Throws a `HiError` when the newest blocks are all failures and the user did not ask for a summary: it would probably
 * fail again.
 */
function refuseAfterFailures({ entries, reason }: CompactionInput): void {
  const newest = entries
    .filter(isCompressBlock)
    .filter(({ strategy }) => strategy !== ARRIVAL)
    .slice(-FAILURES);
  if (reason === 'manual' || newest.length < FAILURES) return;
  if (newest.some((block) => block.source !== 'fallback')) return;
  throw new HiError('overload', 'three summaries in a row failed, so automatic ones are paused. /compact tries again.');
}
