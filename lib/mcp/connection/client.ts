import type { JsonObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import type { Elicitation, ElicitationAnswer } from '../base/elicitation.js';
import type { Listing } from '../definitions/read-offer.js';

/** The limits and callbacks of a call. */
export interface CallLimits {
  /** How long the server may be silent, in milliseconds. */
  readonly silence: number;
  readonly signal: AbortSignal;
  /** Takes what the server says of its progress. */
  progress(text: string): void;
  /** Takes what the server wanted to know of the user, and what became of it. */
  asked?(question: Elicitation, action: ElicitationAnswer['action']): void;
}

/** The server answered that it does not do what it was asked: it is neither silent nor gone. */
export class ErrorResponse extends Error {
  override readonly name = 'ErrorResponse';
}

/** It said nothing, or the answer that counts came too late; `timeout` is its `start_timeout_ms`. */
export function startedTooLate(timeout: number, cause: unknown): HiError {
  return new HiError('network', `It did not start within ${timeout / 1000} s, its start_timeout_ms.`, { cause });
}

/**
 * The server knows the session no longer, such as after its own restart, and did nothing of what it was asked: a new
 * connection can ask again.
 */
export class SessionExpired extends Error {
  override readonly name = 'SessionExpired';
}

/**
 * One live connection to a server, whatever is behind it. Every method throws when the server refuses, is silent or is
 * gone.
 */
export interface Client {
  /** Everything that the server offers. */
  list(): Promise<Listing>;
  /** What the tool gave back, as the protocol has it. */
  call(tool: string, args: JsonObject, limits: CallLimits): Promise<unknown>;
  /** The messages of a prompt, as the protocol has them. */
  prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown>;
  /** What stands at an address of the server, as the protocol has it. */
  read(uri: string, limits: CallLimits): Promise<unknown>;
  /** Called once when the connection is gone. */
  onClose(gone: () => void): void;
  /** Called when the server says that its lists have changed. */
  onChange(changed: () => void): void;
  /** Subscribes to such changes, if the protocol requires it. */
  listen(): Promise<void>;
  close(): Promise<void>;
}
