import type { ThinkingLevel } from './thinking-level.js';

/** What a request may hold that not every model takes. `opaque`: signed or encrypted parts of earlier answers. */
export type Feature = 'tools' | 'parallel_calls' | 'images' | 'documents' | 'audio' | 'opaque' | 'web';

/** What is known about a model at a server: reported by the server, or learnt from a rejected request. Absent means unknown. */
export interface ModelFacts {
  /** In tokens, as the server gives it. */
  readonly context_window?: number;
  /** The longest answer in tokens. */
  readonly max_output_tokens?: number;
  /** Whether the model takes a feature. */
  readonly takes?: { readonly [Name in Feature]?: boolean };
  /** The levels of thinking that the model refused. */
  readonly refused_thinking?: readonly ThinkingLevel[];
  /** The model's tokens for each token of the estimate (characters / 4), as measured last. */
  readonly token_ratio?: number;
  /** The window that the server gives by its own setting, which no request should change; 0 when there is no such setting. */
  readonly fixed_window?: number;
  /** The window that the server was last asked for: with another one it loads the model anew. */
  readonly loaded_window?: number;
  /** When the server was asked what the model can do, in milliseconds since 1970; absent when it never was. */
  readonly asked_at?: number;
}

/** The facts of one model at one server. They outlive the process. */
export interface ModelMemory {
  /** What is known now. */
  readonly facts: ModelFacts;
  /** Adds to what is known: `takes` is merged by feature, levels of thinking are added, anything else is replaced. Never throws. */
  learn(more: ModelFacts): void;
}

/** The memory of a model that is asked once and then forgotten. */
export const NOTHING_KNOWN: ModelMemory = { facts: {}, learn() {} };
