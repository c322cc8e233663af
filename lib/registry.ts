import { closest, distance } from 'fastest-levenshtein';
import { type ErrorCode, HiError } from './errors.js';

/** Anything a plug-in folder lists: members are found by name, or by one of their aliases. */
export interface Named {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/**
 * The known name nearest to a mistyped one, or null when none is near enough to be what was meant:
 * at most two edits, or three for names longer than seven characters, and never the whole name.
 */
export function nearest(typed: string, known: readonly string[]): string | null {
  if (known.length === 0 || typed === '') return null;
  const meant = typed.toLowerCase();
  const found =
    known.find((name) => name.length > 2 && meant.length > 2 && name.startsWith(meant)) ?? closest(meant, known);
  if (found.startsWith(meant) && meant.length > 2) return found;
  const allowed = Math.min(found.length > 7 ? 3 : 2, found.length - 1);
  return distance(meant, found.toLowerCase()) <= allowed ? found : null;
}

/** The sentence that helps after an unknown name: the nearest known one, and the whole list. */
export function suggestion(typed: string, known: readonly string[]): string {
  const near = nearest(typed, known);
  if (known.length === 0) return 'There are none.';
  const list = `Known: ${[...known].sort().join(', ')}.`;
  return near === null ? list : `Did you mean '${near}'? ${list}`;
}

/**
 * The member with that name or alias.
 * Throws a `HiError` that names the nearest member; `kind` is the word for a member ("provider"), `code` the area it belongs to.
 */
export function pick<Member extends Named>(
  members: readonly Member[],
  name: string,
  kind: string,
  code: ErrorCode = 'config',
): Member {
  const found = members.find((member) => member.name === name || member.aliases?.includes(name));
  if (found) return found;
  throw new HiError(code, `Unknown ${kind} '${name}'.`, {
    hint: suggestion(
      name,
      members.map((member) => member.name),
    ),
  });
}
