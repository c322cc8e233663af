import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Rule, Rules } from '../rules/rules.js';
import type { Traversal } from '../shell/directory-traversals.js';
import type { ShellWord } from '../shell/shell-word.js';
import { loginFilesOf } from './git-logins.js';
import { globMatches, knownPattern, mayMatchName, surelyMatchesName } from './glob-matches.js';
import { coversPath, type JudgeContext, type Verdict } from './judge-path.js';
import { privateReason } from './private-places.js';
import { locate } from './resolve-path.js';
import { shouldYield, yieldToEvents } from './yield-to-events.js';

/** A traversal of more files than this is not checked and needs approval. */
const MAX_FILES = 20_000;

// Both are large and contain no files of the user's own, except for git's settings.
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules']);

/**
 * Reads the folders that a command would read. Returns the verdict for the first denied file in them, else for the first private one; null if there is none.
 */
export async function traversalProblem(
  traversals: readonly Traversal[],
  folders: readonly string[],
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict | null> {
  if (traversals.length === 0) return null;
  const check = new TraversalCheck(rules, context, (await locate(context.root, '/')).real ?? context.root);
  for (const traversal of traversals)
    for (const root of await rootsOf(traversal, folders, context.signal)) {
      const problem = await check.checkFolder(root, traversal);
      if (problem !== null) return { decision: 'ask', rule: null, ...problem };
    }
  return check.found === null ? null : { decision: 'ask', rule: null, ...check.found };
}

/** The folders where a traversal may begin. */
async function rootsOf(
  { roots }: Traversal,
  folders: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const found = await Promise.all(folders.flatMap((folder) => roots.map((word) => placesOf(word, folder, signal))));
  const places = found.flat();
  // If none of them exists, or their names are unknown, the command may read the folder that it runs in.
  return places.some((path) => existsSync(path)) ? places : folders;
}

async function placesOf(word: ShellWord, folder: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const pattern = knownPattern(word);
  const paths = word.value !== null ? [word.value] : pattern === null ? [] : await globMatches(pattern, folder, signal);
  const places = await Promise.all((paths ?? []).map((path) => locate(path, folder)));
  return places.flatMap(({ real }) => real ?? []);
}

interface Problem {
  readonly reason: string;
  readonly mayBeDenied: boolean;
}

class TraversalCheck {
  readonly #deny: readonly Rule[];
  readonly #context: JudgeContext;
  readonly #root: string;
  readonly #seen = new Set<string>();
  #files = 0;
  #found: Problem | null = null;

  constructor({ deny }: Rules, context: JudgeContext, root: string) {
    this.#deny = deny.filter(({ scope, subject }) => scope.kind !== 'all' && subject.accessKind === 'read');
    this.#context = context;
    this.#root = root;
  }

  /** The first private file found. */
  get found(): Problem | null {
    return this.#found;
  }

  /** Searches a folder. Returns what ends the search: a file that a rule denies, or too many files. */
  async checkFolder(folder: string, traversal: Traversal): Promise<Problem | null> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    this.#files += entries.length;
    if (this.#files > MAX_FILES)
      return { reason: `too many files to check: ${folder}`, mayBeDenied: this.#deny.length > 0 };
    for (const entry of entries) {
      if (shouldYield()) await yieldToEvents(this.#context.signal);
      if (!isIncluded(entry, traversal)) continue;
      const path = join(folder, entry.name);
      const problem =
        (entry.isDirectory() ? null : await this.#check(path, entry.isSymbolicLink())) ??
        (entry.isFile() ? null : await this.#enter(path, traversal));
      if (problem !== null) return problem;
    }
    return null;
  }

  async #enter(path: string, traversal: Traversal): Promise<Problem | null> {
    if (!traversal.recursive) return null;
    const name = basename(path);
    if (name === '.git') for (const file of loginFilesOf(path)) await this.#check(file, false);
    if (SKIPPED_FOLDERS.has(name)) return null;
    const { real } = await locate(path, '/');
    if (real === null || this.#seen.has(real)) return null;
    if (traversal.followsLinks) this.#seen.add(real);
    return this.checkFolder(real, traversal);
  }

  async #check(path: string, isLink: boolean): Promise<Problem | null> {
    const real = isLink ? (await locate(path, '/')).real : path;
    for (const rule of this.#deny)
      if (coversPath(rule, [path, real ?? path], this.#root))
        return { reason: `the rule '${rule.source}' forbids a file that it reads: ${path}`, mayBeDenied: true };
    const reason = privateReason({ absolute: path, real }, this.#context.ownPlaces);
    const problem = reason === null ? null : { reason: `it reads ${path}, and ${reason}`, mayBeDenied: false };
    this.#found ??= problem;
    return this.#deny.length === 0 ? problem : null;
  }
}

function isIncluded(
  entry: Dirent,
  { includesHidden, followsLinks, include, excludeFiles, excludeFolders }: Traversal,
): boolean {
  const { name } = entry;
  if (entry.isSymbolicLink() && !followsLinks) return false;
  const isRequested = include.some((pattern) => mayMatchName(pattern, name));
  // A hidden name is read when a pattern asks for it.
  if (name.startsWith('.') && !includesHidden && !isRequested) return false;
  if (!entry.isFile()) return !excludeFolders.some((pattern) => surelyMatchesName(pattern, name));
  return (include.length === 0 || isRequested) && !excludeFiles.some((pattern) => surelyMatchesName(pattern, name));
}
