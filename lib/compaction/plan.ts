import type { Message } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/tokens.js';
import { stateOf } from '../view/block-state.js';
import { advanceCut, cutBefore, lastGroup, validCuts } from '../view/cuts.js';
import { carriedTokens, LEAST_PROSE, type RealSize, realSize } from '../view/least.js';
import { triggerOf } from '../view/limit.js';
import { shortenOld } from '../view/shorten.js';
import { charactersOf, estimateView, totalCharacters } from '../view/size.js';
import { newestBase, newestBlock, type View, viewFrom } from '../view/view.js';
import type { CompactionInput, Plan } from './strategy.js';

/** How a strategy wants the view cut. */
export interface CutPolicy {
  /** Cut what is sent now, or everything since the last block that stands for what came before it (the backlog after failed summaries). */
  readonly from: 'sent' | 'base';
  /** How many of these messages should stay, the newest ones. */
  keep(messages: readonly Message[]): number;
  /** True when a text will be written for the messages that leave: room is left for it. */
  readonly writes: boolean;
}

/** The share of the trigger a pass should end below, and the share that what is kept may fill before more of it is given up. */
const RECOVER = 0.75;
const CROWDED = 0.94;

/** Plans a pass: a cut that parts no call from its result, old large results shortened where room is short, the newest user message kept in any case. Pure. */
export function plan(input: CompactionInput, policy: CutPolicy): Plan {
  const newest = newestBlock(input.entries);
  const base = policy.from === 'base' ? newestBase(input.entries) : newest;
  const sent = viewFrom(newest, input.entries, input.running);
  const basis = base === newest ? sent : viewFrom(base, input.entries, input.running);
  const real = realSizeOf(input, estimateView(sent));
  const limit = limitOf(input, real, estimateView(basis));
  const carried = carriedTokens(basis, policy.writes);

  const { messages } = basis;
  const newestUser = messages.findLastIndex((message) => message.role === 'user');
  const cuts = validCuts(messages);
  const preferred = cutBefore(cuts, messages.length - policy.keep(messages));
  const short = shortenOld(messages, preferred, newestUser);
  const whole = tokensFrom(messages, newestUser);
  const tight = whole(preferred) + carried > RECOVER * limit;
  const shown = tight || input.reason === 'overflow' ? short : messages;
  const tokens = shown === messages ? whole : tokensFrom(shown, newestUser);
  // Where nothing leaves, nothing is written, and the old text stays as it is.
  const overhead = (at: number) => (at === 0 ? carriedTokens(basis, false) : carried);
  const cut = advanceCut(cuts, preferred, lastGroup(messages), (at) => tokens(at) + overhead(at) <= CROWDED * limit);

  const stays = (_: Message, index: number) => index >= cut || (index === newestUser && cut < messages.length);
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
    room: asTokens(Math.max(LEAST_PROSE, Math.floor(CROWDED * limit - tokens(cut) - carried))),
  };
}

/** The size in tokens of the kept messages with a text before them, by the same measure as `tokens_before`. */
export function sizeAfter(input: CompactionInput, { kept, ratio }: Plan, content: string): Tokens {
  return asTokens(input.fixed_tokens + Math.ceil(ratio * estimateTokens(totalCharacters(kept) + content.length)));
}

function realSizeOf({ context_tokens, fixed_tokens }: CompactionInput, estimate: Tokens): RealSize {
  return context_tokens === undefined ? { ratio: 1, hidden: 0 } : realSize(context_tokens - fixed_tokens, estimate);
}

/** How many estimated tokens the view may have. After the provider refused a request as too long, half of what it has. */
function limitOf(
  { settings, fixed_tokens, reason }: CompactionInput,
  { ratio, hidden }: RealSize,
  estimate: Tokens,
): number {
  const trigger = triggerOf(settings);
  const overhead = fixed_tokens + hidden;
  const free = (overhead < trigger ? trigger - overhead : trigger / 10) / ratio;
  return reason === 'overflow' ? Math.min(free, estimate) / 2 : free;
}

/** True when the summary so far is longer than the shortest that can be written. */
function hasLongProse({ block }: View): boolean {
  return block !== null && estimateTokens(stateOf(block).prose) > LEAST_PROSE;
}

/** The tokens of what stays when the cut is at an index: everything from there on, and the newest user message. */
function tokensFrom(messages: readonly Message[], newestUser: number): (cut: number) => Tokens {
  const after = new Float64Array(messages.length + 1);
  messages.forEach((_, index) => {
    const from = messages.length - 1 - index;
    const message = messages[from];
    after[from] = (after[from + 1] ?? 0) + (message ? charactersOf(message) : 0);
  });
  const pinned = messages[newestUser];
  return (cut) =>
    estimateTokens(
      (after[cut] ?? 0) + (pinned && newestUser < cut && cut < messages.length ? charactersOf(pinned) : 0),
    );
}

function sizeBefore(input: CompactionInput, basis: View, sent: View, ratio: number): Tokens {
  if (basis.block?.id === sent.block?.id && input.context_tokens !== undefined) return asTokens(input.context_tokens);
  return asTokens(input.fixed_tokens + Math.ceil(ratio * estimateView(basis)));
}
