import type { StopReason, Usage } from './message.js';

/** One call for a text: what the model is and what it shall write. */
export interface TextPrompt {
  readonly system: string;
  readonly user: string;
  /** The most tokens the text may have. */
  readonly max_output_tokens: number;
}

/** What came back, whole. */
export interface WrittenText {
  readonly text: string;
  readonly stop_reason: StopReason;
  /** Null when the server told none. */
  readonly usage: Usage | null;
}

/** A model as summaries, skill matching and compression use it: one prompt in, one text out, no tools, nothing kept. */
export interface TextModel {
  readonly provider: string;
  readonly model: string;
  /** Its window in tokens. */
  readonly context_window: number;
  /**
   * Rejects with a `HiError` when the model cannot answer, and with an abort error when `signal` aborts.
   * `onProgress` is told how many characters have come so far; time limits are the caller's, by `signal`.
   */
  write(prompt: TextPrompt, onProgress: (characters: number) => void, signal: AbortSignal): Promise<WrittenText>;
}

/** Results of earlier calls, by content hash, kept across restarts. */
export interface TextCache {
  /** The stored text, or null when there is none or it cannot be read. */
  get(key: string): Promise<string | null>;
  /** Stores a text. A cache that cannot be written is not an error. */
  put(key: string, text: string): Promise<void>;
}
