import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rule, Rules } from '../rules/rules.js';
import type { Walk } from '../shell/directory-walks.js';
import type { ShellWord } from '../shell/shell-word.js';
import { globMatches, knownPattern, mayFit, surelyFits } from './glob-matches.js';
import { coversPath, type JudgeContext, type Verdict } from './judge-path.js';
import { privateReason } from './private-places.js';
import { locate } from './resolve-path.js';

/** More files than this are not looked through. */
const MOST_FILES = 20_000;

// What git keeps for itself, and what packages bring: neither is the user's own, and both are large.
const PASSED_OVER = new Set(['.git', 'node_modules']);

/** Goes where a command would, and returns the verdict that the first private or forbidden place there calls for; null where there is none. */
export async function walkedProblem(
  walks: readonly Walk[],
  folders: readonly string[],
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict | null> {
  if (walks.length === 0) return null;
  const guard = new Guard(rules, context, (await locate(context.root, '/')).real ?? context.root);
  for (const walk of walks)
    for (const start of await startsOf(walk, folders)) {
      const problem = await guard.lookThrough(start, walk);
      if (problem !== null) return { decision: 'ask', rule: null, ...problem };
    }
  return null;
}

/** The folders that are meant. */
async function startsOf({ starts }: Walk, folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.flatMap((folder) => starts.map((word) => placesOf(word, folder))));
  const places = found.flat();
  // Where nothing that is named is there, or that is not known, the words may mean where the command runs.
  return places.some((path) => existsSync(path)) ? places : folders;
}

async function placesOf(word: ShellWord, folder: string): Promise<readonly string[]> {
  const pattern = knownPattern(word);
  const paths = word.value !== null ? [word.value] : pattern === null ? [] : await globMatches(pattern, folder);
  const places = await Promise.all((paths ?? []).map((path) => locate(path, folder)));
  return places.flatMap(({ real }) => real ?? []);
}

interface Problem {
  readonly reason: string;
  readonly mayBeDenied: boolean;
}

class Guard {
  readonly #deny: readonly Rule[];
  readonly #context: JudgeContext;
  readonly #root: string;
  readonly #seen = new Set<string>();
  #files = 0;

  constructor({ deny }: Rules, context: JudgeContext, root: string) {
    this.#deny = deny.filter(({ scope, subject }) => scope.kind !== 'all' && subject.accessKind === 'read');
    this.#context = context;
    this.#root = root;
  }

  async lookThrough(folder: string, walk: Walk): Promise<Problem | null> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    this.#files += entries.length;
    if (this.#files > MOST_FILES)
      return { reason: `too many files to look through: ${folder}`, mayBeDenied: this.#deny.length > 0 };
    for (const entry of entries) {
      if (!isTaken(entry, walk)) continue;
      const path = join(folder, entry.name);
      const problem =
        (entry.isDirectory() ? null : await this.#check(path, entry.isSymbolicLink())) ??
        (entry.isFile() ? null : await this.#enter(path, walk));
      if (problem !== null) return problem;
    }
    return null;
  }

  async #enter(path: string, walk: Walk): Promise<Problem | null> {
    if (!walk.deep || PASSED_OVER.has(path.slice(path.lastIndexOf('/') + 1))) return null;
    const { real } = await locate(path, '/');
    if (real === null || this.#seen.has(real)) return null;
    if (walk.follows) this.#seen.add(real);
    return this.lookThrough(real, walk);
  }

  async #check(path: string, isLink: boolean): Promise<Problem | null> {
    const real = isLink ? (await locate(path, '/')).real : path;
    for (const rule of this.#deny)
      if (coversPath(rule, [path, real ?? path], this.#root))
        return { reason: `the rule '${rule.source}' forbids a file it goes through: ${path}`, mayBeDenied: true };
    const reason = privateReason({ asked: path, real }, 'read', this.#context.ownPlaces);
    return reason === null ? null : { reason: `it goes through ${path}, and ${reason}`, mayBeDenied: false };
  }
}

function isTaken(entry: Dirent, { hidden, follows, only, without, withoutFolders }: Walk): boolean {
  const { name } = entry;
  if (entry.isSymbolicLink() && !follows) return false;
  const isWanted = only.some((pattern) => mayFit(pattern, name));
  // A name that is asked for is taken though it is hidden.
  if (name.startsWith('.') && !hidden && !isWanted) return false;
  if (!entry.isFile()) return !withoutFolders.some((pattern) => surelyFits(pattern, name));
  return (only.length === 0 || isWanted) && !without.some((pattern) => surelyFits(pattern, name));
}
