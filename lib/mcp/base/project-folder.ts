import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The name of a project's server file. */
export const PROJECT_FILE = '.mcp.json';

/** The folder of the project's file: the nearest from `cwd` up to the root of the repository; outside a repository only `cwd`. Null if there is none. */
export function projectFolder(cwd: string): string | null {
  if (hasFile(cwd)) return cwd;
  return aboveInRepository(cwd)?.find(hasFile) ?? null;
}

const hasFile = (folder: string): boolean => existsSync(join(folder, PROJECT_FILE));

/** The folders above this one, up to the root of its repository; null outside a repository. */
function aboveInRepository(folder: string): readonly string[] | null {
  if (existsSync(join(folder, '.git'))) return [];
  const above = dirname(folder);
  const others = above === folder ? null : aboveInRepository(above);
  return others && [above, ...others];
}
