import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { escapeGlob, isGlob, pathMatcher } from '../glob/glob.js';
import { type CommandGrant, concerns, generalSubject, type Rule, type Rules } from '../rules/rules.js';
import type { ShellName } from '../shell/shell-word.js';
import { isOwnPlace, OWN_PLACE, privateReason } from './private-places.js';
import { isInside, locate, lstatOrNull, type ResolvedPath } from './resolve-path.js';
import { runsLaterReason } from './runs-later.js';

/** The decision about an access: allow it, ask the user, or deny it. */
export type Verdict =
  /** `grant` is what a command may do in its sandbox; absent if it runs without one. */
  | { readonly decision: 'allow'; readonly grant?: CommandGrant }
  /** `rule` is what "always" stores; null where only "once" is offered. */
  | {
      readonly decision: 'ask';
      readonly reason: string;
      readonly rule: string | null;
      /** A deny rule may apply, so `-y` is not enough. */
      readonly mayBeDenied?: boolean;
    }
  | { readonly decision: 'deny'; readonly reason: string };

/** The session that an access is judged in. */
export interface JudgeContext {
  /** The working folder when the session began: reads in it need no approval. */
  readonly root: string;
  readonly workingFolder: string;
  /** hi's own folders and files, which always need approval. */
  readonly ownPlaces: readonly string[];
  /** Other folders whose files may be read without approval: skills, and outputs too long for the model. */
  readonly freeFolders: readonly string[];
  /** Whether commands that a rule allows run in a sandbox. */
  readonly hasSandbox: boolean;
  /** The environment of commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The shell that runs commands; absent for bash. */
  readonly shell?: ShellName;
  /** Fires when the verdict is no longer needed. */
  readonly signal?: AbortSignal;
}

/** Reading or writing one path; `isFolder` where a folder is listed. */
export interface PathAccess {
  readonly kind: 'read' | 'write';
  readonly path: string;
  readonly isFolder?: boolean;
}

/**
 * Judges reading or writing one path: `deny` beats private places and `ask`, these beat `allow`; reading inside the
 * root needs no rule.
 */
export async function judgePath(
  tool: string | null,
  access: PathAccess,
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict> {
  const { kind, path } = access;
  const place = await locate(path, context.workingFolder);
  const root = (await locate(context.root, '/')).real ?? context.root;
  const find = (list: readonly Rule[], paths: readonly string[]) =>
    list.find((rule) => concerns(rule, kind, tool) && coversPath(rule, paths, root));
  const spellings = [resolve(place.absolute), ...(place.real === null ? [] : [place.real])];
  const denied = find(rules.deny, spellings);
  if (denied) return { decision: 'deny', reason: `the rule '${denied.source}' forbids it` };
  // What the user is asked for later, what is always sent and what is allowed: only the user changes that, by hand.
  if (kind === 'write' && isOwnPlace(place, context.ownPlaces))
    return { decision: 'deny', reason: `${OWN_PLACE}, which only the user changes` };
  const free = kind === 'read' && (await isFree(place, context));
  const leads = place.real !== null && place.real !== resolve(place.absolute) ? ` (it leads to ${place.real})` : '';
  const ownPlaces = free ? [] : context.ownPlaces;
  const later = kind === 'write' ? await runsLaterReason(place, root, context.signal) : null;
  const secret = privateReason(place, ownPlaces) ?? later ?? (await hardLinkReason(place.real ?? '', root, ownPlaces));
  if (secret !== null) return { decision: 'ask', reason: secret + leads, rule: null };
  const asked = find(rules.ask, spellings);
  if (asked) return { decision: 'ask', reason: `the rule '${asked.source}' says to ask${leads}`, rule: null };
  const real = place.real ?? '';
  if (free || find(rules.allow, [real])) return { decision: 'allow' };
  const inside = isInside(root, real);
  if (kind === 'read' && inside) return { decision: 'allow' };
  const reason = inside ? 'no rule allows this change' : 'it is outside the working folder';
  return { decision: 'ask', reason: reason + leads, rule: suggestRule(tool, access, real, rules, root) };
}

async function isFree({ real }: ResolvedPath, { freeFolders }: JudgeContext): Promise<boolean> {
  const folders = await Promise.all(freeFolders.map((folder) => locate(folder, '/')));
  return real !== null && folders.some((folder) => folder.real !== null && isInside(folder.real, real));
}

/**
 * Whether the rule covers one of the paths. `x/*` is `x` and everything below it; a pattern without `/` matches names
 * in any folder of `root`.
 */
export function coversPath({ scope }: Rule, paths: readonly string[], root: string): boolean {
  if (scope.kind === 'all') return true;
  const folder = scope.kind === 'prefix' ? scope.text : /^(.*)\/\*{1,2}$/.exec(scope.text)?.[1];
  if (folder !== undefined && !isGlob(folder)) {
    const top = fullPath(folder === '' ? '/' : folder, root);
    return paths.some((path) => isInside(top, path));
  }
  if (!isGlob(scope.text)) return paths.includes(fullPath(scope.text, root));
  // The names of the working folder and the home folder may contain special characters.
  const pattern = scope.text.includes('/') ? fullPath(scope.text, escapeGlob(root), escapeGlob(homedir())) : null;
  const matches = pathMatcher(pattern ?? `/${scope.text}`);
  return paths.some((path) =>
    pattern === null ? isInside(root, path) && matches(`/${basename(path)}`) : matches(path),
  );
}

/** The absolute path that a rule's text means in the working folder `root`. */
export function fullPath(text: string, root: string, home = homedir()): string {
  return text === '~' || text.startsWith('~/') ? home + text.slice(1) : resolve(root, text);
}

/**
 * A rule for the folder of the path, or only for the path if its folder is too large. Absolute, because the rules apply
 * in every folder. A write gets the rule for all writes, because no way of changing a file is safer than another. A
 * read gets the rule for its own tool, because permission to list a folder is not permission to read its files.
 */
function suggestRule(
  tool: string | null,
  { kind, isFolder }: PathAccess,
  real: string,
  rules: Rules,
  root: string,
): string | null {
  const subject = (kind === 'read' ? tool : null) ?? generalSubject(rules, kind);
  if (subject === null || real === '' || isGlob(real) || real.includes(':*')) return null;
  const folder = isFolder ? real : dirname(real);
  const isWide = folder === '/' || isInside(folder, homedir()) || isInside(folder, root);
  const path = isWide ? real : `${folder}/*`;
  return `${subject}(${isInside(homedir(), path) ? `~/${relative(homedir(), path)}` : path})`;
}

/** At most this many private files are compared. */
const MAX_FILES = 2000;

/**
 * Why a file with an ordinary name is private: it is a hard link to a private file in the home folder, in `root` or of
 * hi's own. Null where it is not.
 */
export async function hardLinkReason(path: string, root: string, ownPlaces: readonly string[]): Promise<string | null> {
  const linked = await privateHardLink(path, root, ownPlaces);
  return linked === null ? null : `it is the same file as ${linked}, which is private`;
}

async function privateHardLink(path: string, root: string, ownPlaces: readonly string[]): Promise<string | null> {
  const file = lstatOrNull(path);
  if (!file?.isFile() || file.nlink < 2) return null;
  let left = MAX_FILES;
  const find = async (place: string): Promise<string | null> => {
    left -= 1;
    if (left < 0) return null;
    const there = lstatOrNull(place);
    if (there?.ino === file.ino && there.dev === file.dev) return place;
    if (there?.isDirectory() !== true) return null;
    for (const name of await readdir(place).catch(() => [])) {
      const linked = await find(join(place, name));
      if (linked !== null) return linked;
    }
    return null;
  };
  for (const place of [...ownPlaces, ...(await privateIn(homedir())), ...(await privateIn(root))]) {
    const linked = await find(place);
    if (linked !== null) return linked;
  }
  return null;
}

async function privateIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const paths = names.map((name) => join(folder, name));
  return paths.filter((path) => privateReason({ absolute: path, real: path }, []) !== null);
}
