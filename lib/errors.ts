import { getSystemErrorMap } from 'node:util';
/**
 * What went wrong, in one word. Every code has one exit status, by which scripts can tell errors apart.
 */
export type ErrorCode =
  | 'bug'
  | 'usage'
  | 'config'
  | 'key'
  | 'model'
  | 'rate'
  | 'quota'
  | 'overload'
  | 'network'
  | 'request'
  | 'refused'
  | 'malformed'
  | 'window'
  | 'history'
  | 'limit'
  | 'output'
  | 'interrupted'
  | 'terminated';

/** The exit status of each code. */
export const EXIT_STATUS: Readonly<Record<ErrorCode, number>> = {
  bug: 1,
  output: 1,
  usage: 2,
  config: 3,
  key: 4,
  model: 5,
  rate: 5,
  quota: 5,
  overload: 5,
  network: 5,
  request: 5,
  refused: 5,
  malformed: 5,
  window: 6,
  history: 7,
  limit: 8,
  interrupted: 130,
  terminated: 143,
};

/** The details of a `HiError`, besides its code and message. */
export interface ErrorDetails {
  /** What to do next, as a sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Whether the same request may succeed later; false when absent. */
  readonly retryable?: boolean;
  /** How long the server asks to wait before a retry, in milliseconds. */
  readonly retryAfter?: number;
  /** How often it is worth another try; as often as usual when absent. */
  readonly retries?: number;
  /** Whether the server says that it is loading its model, after which it will answer; false when absent. */
  readonly isLoading?: boolean;
}

/**
 * An error that the user can act on. The message says what happened, with the offending value in quotes; the hint says
 * what to do. Anything else that is thrown is a bug and keeps its stack.
 */
export class HiError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryable: boolean;
  readonly retryAfter: number | null;
  readonly retries: number;
  readonly isLoading: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'HiError';
    this.code = code;
    this.hint = details.hint ?? null;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter ?? null;
    this.retries = details.retries ?? Number.POSITIVE_INFINITY;
    this.isLoading = details.isLoading ?? false;
  }
}

/** Any thrown value as a `HiError`. An unexpected one gets the code `bug` and becomes the cause. */
export function asHiError(thrown: unknown): HiError {
  if (thrown instanceof HiError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new HiError('bug', message, {
    cause: thrown,
    hint: 'This is a bug in hi. Run again with --debug to see where.',
  });
}

/** The code of a failed system call (`ENOENT`, `ENOSPC`); null for any other error. */
export function systemCode(thrown: unknown): string | null {
  // Not `instanceof Error`: Node's own errors may come from another realm.
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown) || !('syscall' in thrown)) return null;
  return typeof thrown.code === 'string' ? thrown.code : null;
}

/** Why a system call failed, as the beginning of a sentence: `Permission denied`. For any other error its message. */
export function systemReason(thrown: unknown): string {
  const code = systemCode(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'There is no such file';
  for (const [name, words] of getSystemErrorMap().values()) {
    if (name === code) return words.charAt(0).toUpperCase() + words.slice(1);
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** True for the error of a cancelled operation, from Node's own APIs or from an SDK. */
export function isAbort(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('name' in thrown)) return false;
  if (thrown.name === 'AbortError' || thrown.name === 'APIUserAbortError') return true;
  return thrown instanceof HiError && thrown.code === 'interrupted';
}

/** Ends a switch over a union. The code does not compile while a member is unhandled. */
export function unreachable(value: never): never {
  throw new Error(`Unhandled value: ${JSON.stringify(value)}`);
}
