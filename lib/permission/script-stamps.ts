import { stat } from 'node:fs/promises';
import { excessOf, isStackOverflow } from './judging-bound.js';
import type { JudgeContext } from './paths/judge-path.js';
import { foldersOf } from './paths/path-words.js';
import { absolutePath } from './paths/resolve-path.js';
import { readCommand } from './shell/read-command.js';
import { scriptFiles } from './shell/script-files.js';

/** The scripts that a command names, each with a stamp that differs when its content does. */
export type ScriptStamps = ReadonlyMap<string, string>;

/** Stamps the scripts that a command names, so that what runs is what the user could look at. Never throws. */
export async function scriptStamps(
  command: string,
  context: Pick<JudgeContext, 'env' | 'shell' | 'workingFolder'>,
): Promise<ScriptStamps> {
  const names = await namesIn(command, context);
  return new Map(await Promise.all(names.map(async (path): Promise<[string, string]> => [path, await stampOf(path)])));
}

/** The first script that has changed; null if none has. */
export function changedScript(before: ScriptStamps, after: ScriptStamps): string | null {
  return [...before].find(([path, stamp]) => after.get(path) !== stamp)?.[0] ?? null;
}

async function namesIn(
  command: string,
  { env, shell, workingFolder }: Pick<JudgeContext, 'env' | 'shell' | 'workingFolder'>,
): Promise<readonly string[]> {
  if (excessOf(command) !== null) return [];
  try {
    const { parts } = await readCommand(command, env, shell);
    const folders = foldersOf(parts, workingFolder).folders ?? [workingFolder];
    return [
      ...new Set(
        scriptFiles(parts).flatMap((name) =>
          folders.map((folder) => absolutePath(name, folder).replaceAll('/./', '/')),
        ),
      ),
    ].slice(0, MOST_SCRIPTS);
  } catch (failure) {
    if (!isStackOverflow(failure)) throw failure;
    return [];
  }
}

const MOST_SCRIPTS = 100;

/** Size and times distinguish contents; the time of the last change (ctime) cannot be set back. */
async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return '';
  }
}
