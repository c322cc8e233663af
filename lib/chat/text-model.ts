import type { StopReason, Usage } from './message.js';

/** A prompt for one text. */
export interface TextPrompt {
  readonly system: string;
  readonly user: string;
  /** The maximum length of the text in tokens. */
  readonly max_output_tokens: number;
}

/** The complete reply to a prompt. */
export interface WrittenText {
  readonly text: string;
  readonly stop_reason: StopReason;
  /** Null when the server reported none. */
  readonly usage: Usage | null;
}

/** A model for summaries, skill matching and compression: one prompt in, one text out, no tools, no state. */
export interface TextModel {
  readonly provider: string;
  readonly model: string;
  /** The address of its server, if it is not the vendor's own. */
  readonly api_base?: string;
  /** Its window in tokens; may change as hi learns about the model. */
  readonly context_window: number;
  /** Whether its server is on this machine or the local network, where reading a prompt may take many minutes. */
  readonly isNear?: boolean;
  /** Asks the server about the model, if that is not known yet. Never fails. Absent if there is nothing to ask. */
  ask?(signal: AbortSignal): Promise<void>;
  /**
   * Rejects with a `HiError` when the model cannot answer, and with an abort error when `signal` aborts.
   * `onProgress` gets the number of characters that have arrived. The caller sets time limits by `signal`.
   */
  write(prompt: TextPrompt, onProgress: (characters: number) => void, signal: AbortSignal): Promise<WrittenText>;
}

/** Results of earlier calls by content hash. They outlive the process. */
export interface TextCache {
  /** The stored text; null when there is none or it cannot be read. */
  get(key: string): Promise<string | null>;
  /** Stores a text, in a file before it first waits: its caller may hold a lock. A cache that cannot be written is not an error. */
  put(key: string, text: string): Promise<void>;
}
