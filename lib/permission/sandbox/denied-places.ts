import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { escapeGlob, isGlob, pathMatcher } from '../glob/glob.js';
import { fullPath } from '../paths/judge-path.js';
import { isInside, isThere, realPath } from '../paths/resolve-path.js';
import type { Place } from '../paths/tree-places.js';
import { namesPlaces, type Rule, type Rules } from '../rules/rules.js';

/** What one `deny` rule for files names. */
export interface Denial {
  readonly kind: 'read' | 'write';
  readonly source: string;
  /** The place, or for a pattern the folder that all its places are in. Links are resolved. */
  readonly path: string;
  /** The same with its links. */
  readonly written: string;
  /** Whether a path in it is meant; null for a place, which is meant with everything in it. */
  readonly matches: ((path: string, isFolder: boolean) => boolean) | null;
}

/**
 * The places that `deny` rules for files name. A rule without parentheses is about the tool: as a place it would be
 * everything, and no command could run.
 */
export function denialsOf({ deny }: Rules, root: string): readonly Denial[] {
  return deny.filter(namesPlaces).map((rule) => denialOf(rule, root));
}

function denialOf({ subject, scope, source }: Rule, root: string): Denial {
  const kind = subject.accessKind === 'write' ? 'write' : 'read';
  const text = 'text' in scope ? scope.text : '';
  const folder = scope.kind === 'prefix' ? text : (/^(.*)\/\*{1,2}$/.exec(text)?.[1] ?? text);
  if (!isGlob(folder)) {
    const written = fullPath(folder === '' ? '/' : folder, root);
    return { kind, source, written, path: realPath(written), matches: null };
  }
  if (!text.includes('/')) {
    const matches = pathMatcher(`/${text}`);
    return { kind, source, written: root, path: root, matches: (path) => matches(path.slice(path.lastIndexOf('/'))) };
  }
  // The names of the working folder and the home folder may contain special characters.
  const full = (pattern: string): string => fullPath(pattern, escapeGlob(root), escapeGlob(homedir()));
  const [isMeant, isMeantFolder] = [pathMatcher(full(text)), pathMatcher(full(folder))];
  const written = fixedPart(text, root);
  const real = realPath(written);
  // Folders are searched by their real paths, and the pattern has the path as it is written.
  const asWritten = (path: string): string => written + path.slice(real.length);
  return {
    ...{ kind, source, written, path: real },
    matches: (path, isFolder) =>
      isMeant(asWritten(path)) || (isFolder && folder !== text && isMeantFolder(asWritten(path))),
  };
}

/** The folder that the steps of a pattern before the first special one lead to. */
function fixedPart(text: string, root: string): string {
  const steps = text.split('/');
  const fixed = steps.slice(0, steps.findIndex(isGlob)).join('/');
  return fixed === '' ? (text.startsWith('/') ? '/' : root) : fullPath(fixed, root);
}

/** Whether the places of a denial may be inside this folder, or the folder inside one of them. */
export const mayReach = ({ path }: Denial, folder: string): boolean => isInside(path, folder) || isInside(folder, path);

/** The denials that are patterns. */
export const patternsIn = (denials: readonly Denial[]): readonly Denial[] =>
  denials.filter(({ matches }) => matches !== null);

/** The folders that the patterns of these rules are about, none in another. */
export function topsOf(denials: readonly Denial[]): readonly string[] {
  const tops = patternsIn(denials).map(({ path }) => path);
  return [...new Set(tops)].filter((path) => !tops.some((other) => other !== path && isInside(other, path)));
}

/**
 * Something empty in the place of what does not exist: not in a folder that is missing too, because the command may
 * need that one.
 */
export function standIn({ path, source }: Denial): readonly Place[] {
  if (isThere(path) || !isThere(dirname(path))) return [];
  return [{ path, isFolder: /\/\*{1,2}\)|:\*\)/.test(source) }];
}
