import { setTimeout } from 'node:timers/promises';

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

/** Resolves to null where judging takes too long, and ends it: its signal fires. Rejects when the user interrupts it. */
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
