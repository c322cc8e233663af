import type { Message } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { stateOf } from '../view/block-state.js';
import { LEAST_PROSE, leastSummary, type RealSize, realSize } from '../view/measure.js';
import { advanceCut, cutBefore, lastGroup, shortenOld, validCuts } from '../view/shorten.js';
import { charactersOf, estimateView, totalCharacters, triggerOf } from '../view/size.js';
import { newestBase, newestBlock, type View, viewFrom } from '../view/view.js';
import type { CompactionInput, Plan } from './strategy.js';

/** How a strategy cuts the view. */
export interface CutPolicy {
  /** Cut the current view, or everything since the last real summary (the backlog after failed ones). */
  readonly from: 'sent' | 'base';
  /** How many of the newest messages should stay. */
  keep(messages: readonly Message[]): number;
  /** True when a text is written for the messages that leave, which needs room. */
  readonly writes: boolean;
}

/**
 * Shares of the trigger: the size to reach by shortening old results, and the size beyond which fewer messages are
 * kept.
 */
const RECOVER = 0.75;
const CROWDED = 0.94;

/**
 * Plans a pass: a cut that never separates a call from its result, old large results shortened if room is short, and
 * the newest user message always kept. Pure.
 */
export function plan(input: CompactionInput, policy: CutPolicy): Plan {
  const newest = newestBlock(input.entries);
  const base = policy.from === 'base' ? newestBase(input.entries) : newest;
  const sent = viewFrom(newest, input.entries, input.running);
  const basis = base === newest ? sent : viewFrom(base, input.entries, input.running);
  const real = realSizeOf(input, estimateView(sent));
  const limit = limitOf(input, real, estimateView(basis));
  const summaryTokens = leastSummary(basis, policy.writes);

  const { messages } = basis;
  const newestUser = messages.findLastIndex((message) => message.role === 'user');
  const cuts = validCuts(messages);
  const preferred = cutBefore(cuts, messages.length - policy.keep(messages));
  const { pinned = NONE } = basis;
  const short = withWhole(pinned, messages, shortenOld(messages, preferred, newestUser));
  const whole = tokensFrom(messages, newestUser, pinned);
  const tight = whole(preferred) + summaryTokens > RECOVER * limit;
  const shown = tight || input.reason === 'overflow' ? short : messages;
  const tokens = shown === messages ? whole : tokensFrom(shown, newestUser, pinned);
  // If no message leaves, nothing is written, and the old text stays.
  const overhead = (at: number) => (at === 0 ? leastSummary(basis, false) : summaryTokens);
  const cut = advanceCut(cuts, preferred, lastGroup(messages), (at) => tokens(at) + overhead(at) <= CROWDED * limit);

  const stays = ({ id }: Message, index: number) =>
    index >= cut || (index === newestUser && cut < messages.length) || pinned.has(id);
  const compacted = messages.filter((message, index) => !stays(message, index));
  const fits = tokens(cut) + overhead(cut) <= CROWDED * limit;
  const condenses = policy.writes && fits && cut > 0 && compacted.length === 0 && hasLongProse(basis);
  return {
    basis,
    cut,
    compacted,
    leaving: compacted.length + (basis.block === null ? (input.unloaded ?? 0) : 0),
    kept: shown.filter(stays),
    shortened: shown.filter((message, index) => stays(message, index) && message !== messages[index]),
    condenses,
    changes: compacted.length > 0 || condenses || shown !== messages,
    tokens_before: sizeBefore(input, basis, sent, real.ratio),
    ratio: real.ratio,
    room: asTokens(Math.max(LEAST_PROSE, Math.floor(CROWDED * limit - tokens(cut) - summaryTokens))),
  };
}

const NONE: ReadonlySet<number> = new Set();

/** The shortened messages, with the pinned ones in full. */
function withWhole(
  pinned: ReadonlySet<number>,
  messages: readonly Message[],
  short: readonly Message[],
): readonly Message[] {
  if (pinned.size === 0 || short === messages) return short;
  const shown = messages.map((message, index) => (pinned.has(message.id) ? message : (short[index] ?? message)));
  return shown.every((message, index) => message === messages[index]) ? messages : shown;
}

/** The size in tokens of the kept messages and this text, in the unit of `tokens_before`. */
export function sizeAfter(
  input: CompactionInput,
  { kept, ratio }: Pick<Plan, 'kept' | 'ratio'>,
  content: string,
): Tokens {
  return asTokens(overheadOf(input) + Math.ceil(ratio * estimateTokens(totalCharacters(kept) + content.length)));
}

/**
 * The size of the view in real tokens. The kept messages are sent before the server counts them again, so the ratio is
 * at least the one measured last.
 */
function realSizeOf(input: CompactionInput, estimate: Tokens): RealSize {
  const { context_tokens, settings } = input;
  const { token_ratio: least = 1 } = settings;
  if (context_tokens === undefined) return { ratio: least, hidden: 0 };
  const real = context_tokens - overheadOf(input);
  const ratio = Math.max(least, realSize(real, estimate).ratio);
  return { ratio, hidden: estimate === 0 ? 0 : Math.max(0, real - ratio * estimate) };
}

/** The overhead in real tokens. */
function overheadOf({ fixed_tokens, settings }: CompactionInput): number {
  return Math.ceil(fixed_tokens * (settings.token_ratio ?? 1));
}

/**
 * The most estimated tokens the view may have. After the provider rejected a request as too long: half of the current
 * number.
 */
function limitOf(input: CompactionInput, { ratio, hidden }: RealSize, estimate: Tokens): number {
  const { settings, reason } = input;
  const trigger = triggerOf(settings);
  const overhead = overheadOf(input) + hidden;
  const free = (overhead < trigger ? trigger - overhead : trigger / 10) / ratio;
  return reason === 'overflow' ? Math.min(free, estimate) / 2 : free;
}

/** True when the current summary is longer than the shortest possible one. */
function hasLongProse({ block }: View): boolean {
  return block !== null && estimateTokens(stateOf(block).prose) > LEAST_PROSE;
}

/**
 * The tokens that stay for a cut at an index: everything from there on, what is pinned, and the newest user message.
 */
function tokensFrom(
  messages: readonly Message[],
  newestUser: number,
  pinned: ReadonlySet<number>,
): (cut: number) => Tokens {
  const after = new Float64Array(messages.length + 1);
  const held = new Float64Array(messages.length + 1);
  messages.forEach((message, index) => {
    held[index + 1] = (held[index] ?? 0) + (pinned.has(message.id) ? charactersOf(message) : 0);
  });
  messages.forEach((_, index) => {
    const from = messages.length - 1 - index;
    const message = messages[from];
    after[from] = (after[from + 1] ?? 0) + (message ? charactersOf(message) : 0);
  });
  const asked = messages[newestUser];
  return (cut) => {
    const isAskedBefore = asked && !pinned.has(asked.id) && newestUser < cut && cut < messages.length;
    return estimateTokens((after[cut] ?? 0) + (held[cut] ?? 0) + (isAskedBefore ? charactersOf(asked) : 0));
  };
}

function sizeBefore(input: CompactionInput, basis: View, sent: View, ratio: number): Tokens {
  if (basis.block?.id === sent.block?.id && input.context_tokens !== undefined) return asTokens(input.context_tokens);
  return asTokens(overheadOf(input) + Math.ceil(ratio * estimateView(basis)));
}
