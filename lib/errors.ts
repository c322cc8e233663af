/**
 * What went wrong, in one word. Every code has one exit status (SPEC §1), so scripts can tell them apart
 * and the program decides in one place how to leave.
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
  interrupted: 130,
  terminated: 143,
};

/** What a `HiError` carries beside its code and message. */
export interface ErrorDetails {
  /** The next thing to try, as a sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Whether the same request may succeed later. Absent means no. */
  readonly retryable?: boolean;
  /** How long the server asked to wait before the next try, in milliseconds. */
  readonly retryAfter?: number;
}

/**
 * An error the reader can act on: what happened, with the offending value in quotes, then the next thing to try.
 * Anything else that is thrown is a bug and keeps its stack.
 */
export class HiError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryable: boolean;
  readonly retryAfter: number | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'HiError';
    this.code = code;
    this.hint = details.hint ?? null;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter ?? null;
  }
}

/** Any thrown value as a `HiError`; what nobody foresaw becomes code `bug` with the original as its cause. */
export function asHiError(thrown: unknown): HiError {
  if (thrown instanceof HiError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new HiError('bug', message, {
    cause: thrown,
    hint: 'This is a bug in hi. Run again with --debug to see where.',
  });
}

/** The operating system's code of a failed call (`ENOENT`, `ENOSPC`); null for any other error. */
export function systemCode(thrown: unknown): string | null {
  // Not `instanceof Error`: an error of Node's own may come from another realm.
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown) || !('syscall' in thrown)) return null;
  return typeof thrown.code === 'string' ? thrown.code : null;
}

/** Why the operating system refused, in words that begin a sentence: `Permission denied`. Whatever else was thrown says it itself. */
export function systemReason(thrown: unknown): string {
  const code = systemCode(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'There is no such file';
  const { getSystemErrorMap } = process.getBuiltinModule('node:util');
  for (const [name, words] of getSystemErrorMap().values()) {
    if (name === code) return words.charAt(0).toUpperCase() + words.slice(1);
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** True for the error a cancelled operation rejects with, from Node's own APIs and from the SDKs. */
export function isAbort(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('name' in thrown)) return false;
  if (thrown.name === 'AbortError' || thrown.name === 'APIUserAbortError') return true;
  return thrown instanceof HiError && thrown.code === 'interrupted';
}

/** The end of a switch over a union: does not compile while a member is unhandled. */
export function unreachable(value: never): never {
  throw new Error(`Unhandled value: ${JSON.stringify(value)}`);
}
