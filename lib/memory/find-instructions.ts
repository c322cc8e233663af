import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** A file with a project's instructions for agents. */
export interface InstructionFile {
  readonly path: string;
  /** Differs after every change. */
  readonly version: string;
}

/** The names of such files, in order of preference. */
const NAMES = ['AGENTS.md', 'CLAUDE.md'];

/**
 * The instruction files from the root of the repository down to `cwd`, one per folder; outside a repository only that of `cwd`. A link that leaves the
 * project is not followed. Nothing is read.
 */
export function findInstructions(cwd: string): readonly InstructionFile[] {
  const found: InstructionFile[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = instructionsIn(folder);
    if (file !== null) found.unshift(file);
    if (statOf(join(folder, '.git')) !== null) return inside(folder, found);
    if (dirname(folder) === folder) {
      return inside(
        cwd,
        found.filter(({ path }) => dirname(path) === cwd),
      );
    }
  }
}

function instructionsIn(folder: string): InstructionFile | null {
  for (const name of NAMES) {
    const path = join(folder, name);
    const stats = statOf(path);
    if (stats?.isFile()) return { path, version: `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` };
  }
  return null;
}

/** A link in somebody else's project could point to any of the user's files. */
function inside(root: string, found: readonly InstructionFile[]): readonly InstructionFile[] {
  if (found.length === 0) return found;
  const real = realpathSync(root);
  return found.filter(({ path }) => realpathSync(path).startsWith(real.endsWith(sep) ? real : `${real}${sep}`));
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
