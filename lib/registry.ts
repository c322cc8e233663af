import { closest, distance } from 'fastest-levenshtein';
import { type ErrorCode, HiError } from './errors.js';

/** A member of a plug-in folder, found by its name or an alias. */
export interface Named {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/**
 * The known name nearest to a mistyped one, or null when none is near enough: one edit for every three characters and
 * three at most, two letters that changed places being one edit. A name that begins with what was typed is near.
 */
export function nearest(typed: string, known: readonly string[]): string | null {
  if (known.length === 0 || typed === '') return null;
  const lowered = typed.toLowerCase();
  const found =
    known.find((name) => name.length > 2 && lowered.length > 2 && name.startsWith(lowered)) ?? closest(lowered, known);
  if (found.startsWith(lowered) && lowered.length > 2) return found;
  const maxEdits = Math.min(3, Math.floor(Math.max(lowered.length, found.length) / 3), found.length - 1);
  return edits(lowered, found.toLowerCase()) <= maxEdits ? found : null;
}

function edits(typed: string, name: string): number {
  const letters = (word: string): string => [...word].sort().join('');
  const count = distance(typed, name);
  return count === 2 && letters(typed) === letters(name) ? 1 : count;
}

/** The hint for an unknown name: the nearest known name, and the whole list or `elsewhere`, where that is. */
export function suggestion(typed: string, known: readonly string[], elsewhere: string | null = null): string {
  const near = nearest(typed, known);
  if (known.length === 0) return elsewhere ?? 'There are none.';
  const list = elsewhere ?? `Known: ${[...known].sort().join(', ')}.`;
  return near === null ? list : `Did you mean '${near}'? ${list}`;
}

/**
 * The member with that name or alias. Throws a `HiError` with `code` that names the nearest one; `kind` is the word for
 * a member, such as "provider". `elsewhere` takes the place of the list of all.
 */
export function pick<Member extends Named>(
  members: readonly Member[],
  name: string,
  kind: string,
  code: ErrorCode = 'config',
  elsewhere: string | null = null,
): Member {
  const found = members.find((member) => member.name === name || member.aliases?.includes(name));
  if (found) return found;
  throw new HiError(code, `Unknown ${kind} '${name}'.`, {
    hint: suggestion(
      name,
      members.map((member) => member.name),
      elsewhere,
    ),
  });
}
