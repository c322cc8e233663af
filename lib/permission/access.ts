import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '../chat/json.js';

/** What a call would do: what is judged, and what the user is asked about. */
export type Access =
  /** `isFolder`: the path is a folder that is listed. */
  | { readonly kind: 'read'; readonly path: string; readonly isFolder?: boolean }
  /**
   * `preview` is the change as a unified diff, computed only when the user is asked. Rejects when the change cannot be
   * made.
   */
  | { readonly kind: 'write'; readonly path: string; preview(): Promise<string> }
  | { readonly kind: 'execute'; readonly command: string }
  /** Messages of this conversation, which the user and the model have both read. */
  | { readonly kind: 'conversation' }
  /**
   * A change to what is sent with every later request. `byHand` says how the user can make it; `preview` is a diff, and
   * rejects when the change cannot be made.
   */
  | { readonly kind: 'memory'; readonly byHand: string; preview(): Promise<string> }
  | ServerAccess;

/** A call of a tool that another program runs. All that is known about the tool is what that program claims. */
export interface ServerAccess {
  readonly kind: 'server';
  /** The arguments of the call. */
  readonly args: JsonObject;
  /** A description of the tool for the question to the user: its server, and that server's claims. */
  readonly about: string;
  /**
   * Why earlier approvals no longer count, for example because the description has changed; null when they still do.
   */
  readonly changed: string | null;
  /** Whether the tool has changed since the user last saw it. `-y` does not approve it then. */
  readonly isAnother: boolean;
  /** The complete call, followed by the changes of the tool. */
  preview(): string;
  /** Records that the user has seen the current tool. */
  accept(): void;
  /** Records that the user has replaced the server on purpose, and accepts all its current tools. */
  acceptServer(): void;
}

/** Longer commands need approval without being judged. In characters. */
const MAX_LENGTH = 64 * 1024;

/** The parser scans the rest of the text again for each nesting, so its time is quadratic in their number. */
const MAX_NESTED = 1000;

/** Command lines with more words, or with more commands and redirections, need approval without being judged. */
const MAX_WORDS = 2000;
const MAX_PARTS = 1000;

/** Judging reads folders, which may be on a disk that does not respond. */
const MAX_MS = 3000;

export const NESTED_TOO_DEEPLY = 'it is nested too deeply to judge';

/** Why a command is not judged; null if it is. */
export function excessOf(command: string): string | null {
  if (command.length > MAX_LENGTH) return 'it is longer than 64 KiB, too long to judge';
  let nested = 0;
  for (const _ of command.matchAll(/[$<>][({[]|`|<</g)) nested += 1;
  return nested > MAX_NESTED ? NESTED_TOO_DEEPLY : null;
}

/** Why a command that was parsed is not judged further; null if it is. */
export function excessOfParts(words: number, parts: number): string | null {
  return words > MAX_WORDS || parts > MAX_PARTS ? 'it has too many words to check' : null;
}

/** True for the error of a parser that overflows the stack, as with `1+1+1+…`. */
export function isStackOverflow(failure: unknown): boolean {
  return failure instanceof RangeError && failure.message.includes('call stack');
}

/**
 * Resolves to null where judging takes too long, and ends it: its signal fires. Rejects when the user interrupts it.
 */
export async function inTime<T>(judge: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T | null> {
  const end = new AbortController();
  const both = AbortSignal.any([signal, end.signal]);
  const judging = judge(both);
  // After the timeout nobody handles the rejection.
  judging.catch(() => {});
  try {
    return await Promise.race([judging, setTimeout(MAX_MS, null, { signal: both })]);
  } finally {
    end.abort();
  }
}
