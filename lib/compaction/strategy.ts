import type { ChatEvent } from '../chat/event.js';
import type { Entry, Message, NewCompressBlock } from '../chat/message.js';
import type { TextCache, TextModel } from '../chat/text-model.js';
import type { Tokens } from '../chat/tokens.js';
import type { ToolEffects } from '../chat/tool-effect.js';
import type { Config } from '../config/config.js';
import type { LimitSettings } from '../view/limit.js';
import type { View } from '../view/view.js';

/** `compaction` of the configuration, with the window it applies to. */
export type CompactionSettings = Config['compaction'] & LimitSettings;

/** Everything a pass works on: plain data, so that planning is a pure function. */
export interface CompactionInput {
  /** The log from the first entry the view needs on, oldest first. */
  readonly entries: readonly Entry[];
  /** How many messages before them no block stands for: they are too many to be loaded, and leave with the others. */
  readonly unloaded?: number;
  /** The turn that is running in this process, null between turns. Its messages are part of the view though it is not finished. */
  readonly running: number | null;
  /** Tokens of what is sent beside the messages: preamble, skills, tools. */
  readonly fixed_tokens: number;
  /** The number the trigger used for this view (`Measure.context_tokens`); without it the estimate is taken. */
  readonly context_tokens?: number;
  readonly settings: CompactionSettings;
  readonly reason: 'auto' | 'manual' | 'overflow';
  /** What the user wants the summary to pay attention to. */
  readonly focus: string | null;
}

/** What a pass may call on. */
export interface CompactionDeps {
  /** The models to try for a summary, in order: the small one, then the main one. */
  readonly models: readonly TextModel[];
  readonly cache: TextCache;
  /** What the calls of tools did. */
  readonly effects: ToolEffects;
}

/** What a pass would do. Made without asking anybody, so it can be shown beforehand. */
export interface Plan {
  /** The view that is cut. */
  readonly basis: View;
  /** The index in the basis' messages before which everything leaves, the newest user message excepted. */
  readonly cut: number;
  /** The messages that leave the view. */
  readonly compacted: readonly Message[];
  /** How many leave, with those that are not loaded. */
  readonly leaving: number;
  /** The messages that stay, as they will be shown. */
  readonly kept: readonly Message[];
  /** Those of them that are shown shortened from now on. */
  readonly shortened: readonly Message[];
  /** True when no message can leave and a shorter summary alone makes the room. */
  readonly condenses: boolean;
  /** False when all would stay as it is. */
  readonly changes: boolean;
  /** The size of the basis in tokens, by the number the trigger uses. */
  readonly tokens_before: Tokens;
  /** Real tokens for one estimated token, as far as the number the trigger used tells. */
  readonly ratio: number;
  /** The room in estimated tokens for the text that stands for the messages that leave. */
  readonly room: Tokens;
}

/**
 * A way to make the view shorter. `compact` carries out what `plan` says of the same input. Yields `compact-start`, `compact-progress` and `notice` events; returns the block to append, or null when there is
 * nothing to compact. Throws a `HiError` when it failed (the caller falls back) and an abort error when cancelled; it has no other effect.
 */
export interface Strategy {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** What `compact` would do with this input. Pure, so it can be shown beforehand. */
  plan(input: CompactionInput): Plan;
  compact(
    input: CompactionInput,
    plan: Plan,
    deps: CompactionDeps,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, NewCompressBlock | null>;
}
