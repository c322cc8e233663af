import type { Entry } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { stateOf } from './block-state.js';
import { lastGroup } from './shorten.js';
import { charactersOf, estimateView, type LimitSettings, triggerOf } from './size.js';
import type { View } from './view.js';

/** How full the window is. */
export interface Measure {
  /** The size that is compared with the trigger, including the overhead. */
  readonly context_tokens: Tokens;
  /** The chars/4 estimate of the messages in context and of the summary of older ones. */
  readonly estimated_tokens: Tokens;
  /** The size at which a compaction is due. */
  readonly trigger: Tokens;
  /**
   * True when a compaction is due before the next request: at the trigger, unless the last one did not help and another
   * one would not either.
   */
  readonly due: boolean;
  /** A warning to show once, when the overhead alone reaches the trigger and no compaction can help; else null. */
  readonly warning: string | null;
}

/** The overhead of the last request of a turn: preamble, skills and tools. */
export interface SentOverhead {
  readonly turn: number;
  readonly fixed_tokens: number;
}

/** Optional inputs of a measurement. */
export interface MeasureContext {
  /** Tokens of messages that are sent after the log and not stored. */
  readonly pending_tokens?: number;
  /** The overhead of the request with the newest reported usage, to account for changes since. */
  readonly last?: SentOverhead | null;
  /**
   * The number of messages that are not loaded because no request could hold them. While no block replaces them, a
   * compaction is due.
   */
  readonly unloaded?: number;
}

/** After a compaction that did not help, the next one waits until the view has grown by this share of the trigger. */
const GROWTH = 0.05;

/**
 * Measures the next request to `model`: the larger of the chars/4 estimate, by the ratio that was measured last, and
 * the newest reported usage plus the estimate of what is new. `fixed_tokens` is the overhead: preamble, skills, tools.
 */
export function measure(
  view: View,
  entries: readonly Entry[],
  fixed_tokens: number,
  settings: LimitSettings,
  model: string,
  { pending_tokens = 0, last = null, unloaded = 0 }: MeasureContext = {},
): Measure {
  const estimated_tokens = estimateView(view);
  const changed = (turn: number): number => (last?.turn === turn ? fixed_tokens - last.fixed_tokens : 0);
  const { token_ratio = 1 } = settings;
  const ratio = ratioOf(view, model, token_ratio);
  const reported = reportedSize(view, entries, model, ratio, changed);
  const context_tokens = asTokens(
    Math.max(
      Math.ceil((fixed_tokens + estimated_tokens + pending_tokens) * token_ratio),
      reported === 0 ? 0 : reported + Math.ceil(pending_tokens * ratio),
    ),
  );
  const trigger = triggerOf(settings);
  const crowded = fixed_tokens >= trigger;
  const overhead_tokens = Math.ceil((fixed_tokens + pending_tokens) * token_ratio);
  return {
    context_tokens,
    estimated_tokens,
    trigger,
    due:
      !crowded &&
      ((unloaded > 0 && view.block === null) ||
        (context_tokens >= trigger && canHelp(view, { overhead_tokens, context_tokens, trigger, settings, model }))),
    warning: crowded ? crowdedBy(fixed_tokens, trigger, settings) : null,
  };
}

/** The newest usage of that model since the block, plus the estimate of later messages; 0 if there is none. */
function reportedSize(
  view: View,
  entries: readonly Entry[],
  model: string,
  ratio: number,
  changed: (turn: number) => number,
): number {
  const since = view.block?.id ?? -1;
  const anchor = view.messages.findLast(
    // What another machine measured is the size of its own view.
    (message) =>
      message.id > since &&
      message.usage !== undefined &&
      message.from === undefined &&
      isSameModel(message.model, model),
  );
  if (!anchor?.usage || isOutdated(entries, anchor)) return 0;
  // A server that reports only the tokens of the answer says nothing about the size of the context.
  if (anchor.usage.input_tokens === 0) return 0;
  const fresh = estimateTokens(charactersAfter(view.messages, anchor));
  return anchor.usage.context_tokens + changed(anchor.turn) + Math.ceil(fresh * ratio);
}

/**
 * The characters of the messages that the anchor's request did not contain: later ones of its turn, and turns
 * unfinished when its turn began.
 */
function charactersAfter(messages: readonly Message[], anchor: Message): number {
  const last = new Map(messages.map(({ turn, id }) => [turn, id]));
  let characters = 0;
  for (const message of messages) {
    const held =
      message.turn === anchor.turn ? message.id <= anchor.id : (last.get(message.turn) ?? message.id) < anchor.turn;
    if (!held) characters += charactersOf(message);
  }
  return characters;
}

/**
 * True when an earlier turn was undone or a message pinned or unpinned after the answer. Its usage counts other
 * messages and is useless.
 */
function isOutdated(entries: readonly Entry[], anchor: Message): boolean {
  return entries.some(
    (entry) =>
      entry.id > anchor.id &&
      'type' in entry &&
      (entry.type === 'undo' ? entry.turns.some((id) => id < anchor.turn) : /^(?:un)?pin$/.test(entry.type)),
  );
}

interface Fullness {
  readonly overhead_tokens: number;
  readonly context_tokens: number;
  readonly trigger: Tokens;
  readonly settings: LimitSettings;
  readonly model: string;
}

/**
 * False when another pass could not bring the view below the trigger, because what must stay reaches it. Then the next
 * pass waits until the view has grown.
 */
function canHelp(view: View, { overhead_tokens, context_tokens, trigger, settings, model }: Fullness): boolean {
  if (view.block === null) return true;
  const { size } = stateOf(view.block);
  if (size === null) return view.messages.some(({ id }) => id > (view.block?.id ?? -1));
  const estimate = estimateView(view);
  if ((estimate - size) * ratioOf(view, model, settings.token_ratio) >= GROWTH * trigger) return true;
  const { ratio, hidden } = realSize(context_tokens - overhead_tokens, estimate);
  return overhead_tokens + hidden + ratio * leastLeft(view) < trigger;
}

function crowdedBy(fixed: number, trigger: Tokens, { context_window }: LimitSettings): string {
  return `The preamble, skills and tools alone take ${fixed} tokens, and a compaction is due at ${trigger} tokens (the window holds ${context_window}). Compaction cannot shorten them. Shorten the preamble, load fewer skills, or raise context_window or max_input_tokens.`;
}

/** The least room for a new summary, in tokens. */
export const LEAST_PROSE = 128;

/**
 * The least size of the text that replaces messages: the old block's text, or, if a new one is written, a short text
 * and the facts that code keeps.
 */
export function leastSummary({ block }: View, writes: boolean): Tokens {
  const content = block?.content.length ?? 0;
  return asTokens(writes ? LEAST_PROSE + estimateTokens(content - stateOf(block).prose) : estimateTokens(content));
}

/**
 * The least size a pass can reduce a view to, in estimated tokens: what is pinned, the newest user message, the
 * messages the model has not read yet, and the text that replaces the rest. A shorter text is expected only where the
 * last pass wrote one: not after truncation, and not after a failed summary, so that not every request tries again.
 */
export function leastLeft(view: View): Tokens {
  const { messages } = view;
  const newestUser = messages.findLastIndex((message) => message.role === 'user');
  const last = lastGroup(messages);
  let characters = 0;
  for (const [index, message] of messages.entries()) {
    if (index >= last || index === newestUser || view.pinned?.has(message.id)) characters += charactersOf(message);
  }
  const source = view.block?.source ?? 'model';
  const writes = source === 'model' || source === 'cache';
  return asTokens(estimateTokens(characters) + leastSummary(view, writes));
}

/** How the measured size of a view relates to its estimate. */
export interface RealSize {
  /** Real tokens for one estimated token, between 1 and 3. */
  readonly ratio: number;
  /** The tokens beyond that, which are not in the view: a gateway may add text to every request. */
  readonly hidden: number;
}

/** Compares the measured size of a view with its estimate. */
export function realSize(real: number, estimate: Tokens): RealSize {
  if (estimate === 0) return { ratio: 1, hidden: 0 };
  const ratio = Math.min(3, Math.max(1, real / estimate));
  return { ratio, hidden: Math.max(0, real - ratio * estimate) };
}

/** The weight of the previous ratio against new measurements, in tokens. */
const PRIOR_TOKENS = 1000;
/** At least the plain estimate; dense scripts reach three tokens for four characters. */
const LARGEST = 3;
/** The tokens that vendors add around the messages between two answers. */
const WRAPPING = 50;

/**
 * Real tokens for one estimated token of that model, between 1 and 3; `measured` is the last value from other requests.
 * Measured by the growth of the prompt between two answers with the same skills, so that everything except the messages
 * cancels out. Stored in the block from one compaction to the next.
 */
export function ratioOf(view: View, model: string, measured = 1): number {
  const known = Object.entries(stateOf(view.block).ratios).find(([name]) => isSameModel(name, model));
  const since = view.block?.id ?? -1;
  let real = Math.max(known?.[1] ?? 1, measured) * PRIOR_TOKENS;
  let estimated = PRIOR_TOKENS;
  let before: number | null = null;
  let characters = 0;
  let skills: string | null = null;
  let isSameSystem = true;
  for (const message of view.messages) {
    if (message.skills) {
      const active = JSON.stringify(message.skills.active);
      isSameSystem &&= active === skills;
      skills = active;
    }
    if (message.usage && message.from === undefined && message.id > since && isSameModel(message.model, model)) {
      const grown = before === null || !isSameSystem ? 0 : message.usage.input_tokens - before;
      const said = estimateTokens(characters);
      // A prompt that shrank was truncated by the server, or a skill was unloaded. Growth beyond that of the densest
      // script may come from a larger preamble or more tools, and is capped.
      if (grown > 0) {
        real += Math.min(grown, LARGEST * said + WRAPPING);
        estimated += said;
      }
      before = message.usage.context_tokens;
      characters = 0;
      isSameSystem = true;
    } else characters += charactersOf(message);
  }
  return Math.min(LARGEST, Math.max(1, real / estimated));
}

/**
 * The ratio of one request: its tokens by the model's own count for each token of its estimate. Null for a request that
 * is too small to measure.
 */
export function shownRatio(real: number, estimate: number): number | null {
  if (estimate < LEAST_SHOWN) return null;
  return Math.min(LARGEST, Math.max(1, Math.round((100 * real) / estimate) / 100));
}

/** In a request of fewer tokens the template weighs more than the text. */
const LEAST_SHOWN = 200;

/** The ratios for the next block: the previous ones, updated for the model that answered last. */
export function ratiosOf(view: View): Readonly<Record<string, number>> {
  const model = view.messages.findLast((message) => message.model !== undefined)?.model;
  const known = stateOf(view.block).ratios;
  if (model === undefined) return known;
  const others = Object.entries(known).filter(([name]) => !isSameModel(name, model));
  return Object.fromEntries([...others.slice(-7), [model, Math.round(ratioOf(view, model) * 100) / 100]]);
}

/** True for two names of one model: with and without its date, its tag or the vendor's prefix. */
export function isSameModel(one: string | undefined, other: string): boolean {
  if (one === undefined) return false;
  const [short, long] = [bareName(one), bareName(other)].sort((a, b) => a.length - b.length);
  if (short === undefined || long === undefined || !long.startsWith(short)) return false;
  return /^$|^[-@:](?:\d{4}|latest)/.test(long.slice(short.length));
}

const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1);
