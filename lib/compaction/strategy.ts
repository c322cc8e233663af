import type { Entry, NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import type { Message } from '../chat/message.js';
import type { TextCache, TextModel, Tokens, ToolEffects } from '../chat/request.js';
import type { Config } from '../config/config.js';
import type { LimitSettings } from '../view/size.js';
import type { View } from '../view/view.js';

/** The time limits of a summary. */
export type SummaryLimits = Pick<Config['compaction'], 'timeout_ms' | 'idle_timeout_ms'>;

/** The settings of a pass: the `compaction` section of the configuration, and the context window. */
export type CompactionSettings = Omit<Config['compaction'], 'background'> &
  LimitSettings & {
    /**
     * Whether an automatic summary of more than the window reads only its newest part; the rest is summarised when the
     * user asks for it.
     */
    readonly skips?: boolean;
    /** The limits for a nearby model; the same as for others if absent. */
    readonly near?: SummaryLimits;
  };

/** The input of a pass: plain data, so that planning is a pure function. */
export interface CompactionInput {
  /** The log from the first entry that the view needs, oldest first. */
  readonly entries: readonly Entry[];
  /** The number of older messages that are neither loaded nor summarised. They leave the view with the others. */
  readonly unloaded?: number;
  /**
   * The turn that is running in this process, null between turns. It is part of the view although it is not finished.
   */
  readonly running: number | null;
  /** Tokens of the request overhead: preamble, skills, tools. */
  readonly fixed_tokens: number;
  /** The measured size of this view (`Measure.context_tokens`); the estimate if absent. */
  readonly context_tokens?: number;
  readonly settings: CompactionSettings;
  readonly reason: 'auto' | 'manual' | 'overflow';
  /** What the user wants the summary to focus on. */
  readonly focus: string | null;
  /** Whether the summary reads everything, however many requests that takes. */
  readonly all?: boolean;
}

/** The dependencies of a pass. */
export interface CompactionDeps {
  /** The models to try for a summary, in order: the small one, then the main one. */
  readonly models: readonly TextModel[];
  readonly cache: TextCache;
  /** The effects of tool calls. */
  readonly effects: ToolEffects;
}

/** What a pass would do. Made without asking a model, so that it can be shown before. */
export interface Plan {
  /** The view to cut. */
  readonly basis: View;
  /** The index in the messages of `basis` before which everything leaves, except the newest user message. */
  readonly cut: number;
  /** The messages that leave the view. */
  readonly compacted: readonly Message[];
  /** How many leave, including those that are not loaded. */
  readonly leaving: number;
  /** The messages that stay, as they will be sent. */
  readonly kept: readonly Message[];
  /** Those of them that are sent shortened from now on. */
  readonly shortened: readonly Message[];
  /** True when no message can leave and only a shorter summary makes room. */
  readonly condenses: boolean;
  /** False when nothing would change. */
  readonly changes: boolean;
  /** The size of `basis` in tokens, as the trigger measures it. */
  readonly tokens_before: Tokens;
  /** Real tokens for one estimated token, derived from the measured size. */
  readonly ratio: number;
  /** The room for the text that replaces the messages that leave, in estimated tokens. */
  readonly room: Tokens;
}

/**
 * A way to make the view shorter. `compact` carries out the plan for the same input. Yields `compact-start`,
 * `compact-progress` and `notice` events; returns the block to append, or null when there is nothing to compact. Throws
 * a `HiError` when it fails (the caller falls back) and an abort error when cancelled. It has no other effect.
 */
export interface Strategy {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** Whether it writes summaries. */
  readonly writes: boolean;
  /** True if a pass takes long and can be written before it is due. It then also keeps the messages since. */
  readonly writesAhead?: true;
  /** What `compact` would do with this input. Pure. */
  plan(input: CompactionInput): Plan;
  compact(
    input: CompactionInput,
    plan: Plan,
    deps: CompactionDeps,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, NewCompressBlock | null>;
}
