import { ARRIVAL, type NewCompressBlock } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { asTokens, estimateTokens } from '../chat/request.js';
import { validCuts } from '../view/shorten.js';
import { charactersOf, totalCharacters, triggerOf } from '../view/size.js';
import { newestBlock, viewFrom } from '../view/view.js';
import { compressBlockOf } from './compress-block.js';
import { plan } from './plan.js';
import type { CompactionInput, Plan, Strategy } from './strategy.js';

/** Keeps the newest share of the messages and drops the others from the view; an earlier summary stays. */
export const truncate: Strategy = {
  name: 'truncate',
  summary: 'keep the newest half of the messages word for word, without a summary',
  writes: false,
  plan: (input) =>
    plan(input, {
      from: 'sent',
      keep: ({ length }) => Math.ceil(length * input.settings.keep_ratio),
      writes: false,
    }),
  async *compact(input, made, _deps, signal) {
    signal.throwIfAborted();
    if (!made.changes) return null;
    yield { type: 'compact-start', strategy: 'truncate', messages: made.leaving };
    return compressBlockOf(input, made, {
      content: made.basis.block?.content ?? '',
      strategy: 'truncate',
      source: 'none',
    });
  },
};

/** The block after a failed summary. It covers nothing: the next summary begins where the last successful one ended. */
export function fallback(input: CompactionInput): NewCompressBlock {
  const made = plan(input, { from: 'sent', keep: () => input.settings.fallback_keep, writes: false });
  const content = made.basis.block?.content ?? '';
  return compressBlockOf(input, made, { content, strategy: 'truncate', source: 'fallback' });
}

/** The share of the trigger up to which messages of other machines stay in view when many arrive at once. */
const ARRIVED = 0.5;

/**
 * The block after so many messages of other machines arrived since the last one from here that a compaction would be
 * due. Of these the newest stay in view, and with them the newest of this machine, which they must not displace. The
 * next summary covers the others. Pure.
 */
export function arrivalBlock(input: CompactionInput): NewCompressBlock {
  const { settings, entries, running, fixed_tokens } = input;
  const basis = viewFrom(newestBlock(entries), entries, running);
  const { messages, pinned = new Set() } = basis;
  const here = messages.filter(({ from }) => from === undefined);
  const before = here.at(-1)?.id ?? 0;
  const first = here.findLastIndex(
    (message, at) => at <= here.length - settings.keep_recent && message.role !== 'tool',
  );
  const staying = new Set(here.slice(Math.max(0, first)).map(({ id }) => id));
  const isKept = ({ id }: Message): boolean => staying.has(id) || pinned.has(id);
  const ratio = settings.token_ratio ?? 1;
  const limit = (ARRIVED * triggerOf(settings)) / ratio - fixed_tokens;
  const cut = newestThatFit(
    messages,
    isKept,
    messages.findIndex(({ id }) => id > before),
    limit,
  );
  const kept = messages.filter((message, at) => at >= cut || isKept(message));
  const compacted = messages.filter((message, at) => at < cut && !isKept(message));
  const leaving = compacted.length + (basis.block === null ? (input.unloaded ?? 0) : 0);
  const sizes = { tokens_before: asTokens(input.context_tokens ?? 0), ratio, room: asTokens(0) };
  const made: Plan = { basis, cut, compacted, leaving, kept, shortened: [], condenses: false, changes: true, ...sizes };
  const content = basis.block?.content ?? '';
  return compressBlockOf(input, made, { content, strategy: ARRIVAL, source: 'fallback' });
}

/**
 * The index of the first message from which on all fit together with those that are kept; not before `first`, which is
 * -1 if there are none.
 */
function newestThatFit(
  messages: readonly Message[],
  isKept: (message: Message) => boolean,
  first: number,
  limit: number,
): number {
  const cuts = validCuts(messages);
  let characters = totalCharacters(messages.filter(isKept));
  let found = messages.length;
  for (let at = messages.length - 1; first >= 0 && at >= first; at -= 1) {
    const message = messages[at];
    if (message !== undefined && !isKept(message)) characters += charactersOf(message);
    if (estimateTokens(characters) > limit) break;
    if (cuts[at] === true) found = at;
  }
  return found;
}
