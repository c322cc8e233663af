import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a project calls the file of its servers. */
export const PROJECT_FILE = '.mcp.json';

/** The folder of the project's file: the nearest one from `cwd` up to the root of its repository, outside a repository `cwd` alone; null where there is none. */
export function projectFolder(cwd: string): string | null {
  if (hasFile(cwd)) return cwd;
  return aboveInRepository(cwd)?.find(hasFile) ?? null;
}

const hasFile = (folder: string): boolean => existsSync(join(folder, PROJECT_FILE));

/** The folders above this one, up to the root of its repository; null where it is in none. */
function aboveInRepository(folder: string): readonly string[] | null {
  if (existsSync(join(folder, '.git'))) return [];
  const above = dirname(folder);
  const others = above === folder ? null : aboveInRepository(above);
  return others && [above, ...others];
}
