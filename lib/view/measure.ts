import type { Entry, Message } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/tokens.js';
import { stateOf } from './block-state.js';
import { isSameModel, ratioOf } from './calibration.js';
import { leastLeft, type MeasureSettings, realSize } from './least.js';
import { triggerOf } from './limit.js';
import { charactersOf, estimateView } from './size.js';
import type { View } from './view.js';

/** How full the window is. */
export interface Measure {
  /** The number the trigger uses, fixed content included. */
  readonly context_tokens: Tokens;
  /** The chars/4 estimate of the messages in context and of the text that stands for older ones. */
  readonly estimated_tokens: Tokens;
  /** The size at which a compaction is due. */
  readonly trigger: Tokens;
  /** True when a compaction should be made before the next request: at the trigger, unless the one before did not help and this one would not either. */
  readonly due: boolean;
  /** A warning to show once: the fixed content alone reaches the trigger, so no compaction can help. Null otherwise. */
  readonly warning: string | null;
}

/** What went beside the messages with the last request of a turn, in tokens. */
export interface SentOverhead {
  readonly turn: number;
  readonly fixed_tokens: number;
}

/** What else a measure depends on, nothing of it by default. */
export interface MeasureContext {
  /** Tokens of what is sent after the log and not kept. */
  readonly pending_tokens?: number;
  /** What went beside the messages when the newest usage was reported: what came and went since is counted. */
  readonly last?: SentOverhead | null;
  /** How many messages are not loaded because no request could hold them: until a block stands for them, a compaction is due. */
  readonly unloaded?: number;
}

/** After a compaction that did not help the next one waits until the view has grown by this share of the trigger. */
const GROWTH = 0.05;

/**
 * Measures what would be sent to `model`: the larger of the chars/4 estimate and the newest reported usage plus the estimate of what is new.
 * `fixed_tokens` is what goes beside the messages: preamble, skills, tools.
 */
export function measure(
  view: View,
  entries: readonly Entry[],
  fixed_tokens: number,
  settings: MeasureSettings,
  model: string,
  { pending_tokens = 0, last = null, unloaded = 0 }: MeasureContext = {},
): Measure {
  const estimated_tokens = estimateView(view);
  const changed = (turn: number): number => (last?.turn === turn ? fixed_tokens - last.fixed_tokens : 0);
  const reported = reportedSize(view, entries, model, changed);
  const context_tokens = asTokens(
    Math.max(
      fixed_tokens + estimated_tokens + pending_tokens,
      reported === 0 ? 0 : reported + Math.ceil(pending_tokens * ratioOf(view, model)),
    ),
  );
  const trigger = triggerOf(settings);
  const crowded = fixed_tokens >= trigger;
  const beside_tokens = fixed_tokens + pending_tokens;
  return {
    context_tokens,
    estimated_tokens,
    trigger,
    due:
      !crowded &&
      ((unloaded > 0 && view.block === null) ||
        (context_tokens >= trigger && canHelp(view, { beside_tokens, context_tokens, trigger, settings, model }))),
    warning: crowded ? crowdedBy(fixed_tokens, trigger, settings) : null,
  };
}

/** The newest usage of that model since the block, plus the estimate of what came after it; 0 when there is none. */
function reportedSize(view: View, entries: readonly Entry[], model: string, changed: (turn: number) => number): number {
  const since = view.block?.id ?? -1;
  const anchor = view.messages.findLast(
    (message) => message.id > since && message.usage !== undefined && isSameModel(message.model, model),
  );
  if (!anchor?.usage || isTakenBack(entries, anchor)) return 0;
  // The answer is part of what is measured, so a server that reports no prompt tokens says nothing about the context.
  if (anchor.usage.input_tokens === 0) return 0;
  const fresh = estimateTokens(charactersAfter(view.messages, anchor));
  return anchor.usage.context_tokens + changed(anchor.turn) + Math.ceil(fresh * ratioOf(view, model));
}

/** The characters of the messages that the anchor's request did not hold: later ones of its turn, and turns not over when its turn began. */
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

/** A turn that was taken back after the answer is still in its usage, which therefore says nothing any more. */
function isTakenBack(entries: readonly Entry[], anchor: Message): boolean {
  return entries.some(
    (entry) =>
      entry.id > anchor.id && 'type' in entry && entry.type === 'undo' && entry.turns.some((id) => id < anchor.turn),
  );
}

interface Fullness {
  readonly beside_tokens: number;
  readonly context_tokens: number;
  readonly trigger: Tokens;
  readonly settings: MeasureSettings;
  readonly model: string;
}

/** False where a pass right after another could not bring the view below the trigger, for what cannot leave reaches it: then it waits until the view has grown. */
function canHelp(view: View, { beside_tokens, context_tokens, trigger, settings, model }: Fullness): boolean {
  if (view.block === null) return true;
  const { size } = stateOf(view.block);
  if (size === null) return view.messages.some(({ id }) => id > (view.block?.id ?? -1));
  const estimate = estimateView(view);
  if ((estimate - size) * ratioOf(view, model) >= GROWTH * trigger) return true;
  const { ratio, hidden } = realSize(context_tokens - beside_tokens, estimate);
  return beside_tokens + hidden + ratio * leastLeft(view, settings) < trigger;
}

function crowdedBy(fixed: number, trigger: Tokens, { context_window }: MeasureSettings): string {
  return `The preamble, skills and tools alone take ${fixed} tokens, and a compaction is due at ${trigger} tokens (the window holds ${context_window}). It cannot make them shorter. Shorten the preamble, load fewer skills, or raise context_window or max_input_tokens.`;
}
