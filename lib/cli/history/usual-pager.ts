import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';

/** What of the system chooses the pager. A spec passes its own. */
export interface PagerSearch {
  readonly platform: NodeJS.Platform;
  /** The file of a program with its links followed; null if there is none. */
  programAt(path: string): string | null;
}

/**
 * The command line of the pager where the user has chosen none: `less`, if it is the real one. BusyBox's knows neither the options nor colours, and Windows' `more`
 * no UTF-8. Null for none: a terminal scrolls.
 */
export function usualPager(
  env: Readonly<Record<string, string | undefined>>,
  options: string,
  { platform, programAt }: PagerSearch = { platform: process.platform, programAt: realProgram },
): string | null {
  if (platform === 'win32') return null;
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const file = programAt(join(folder, 'less'));
    if (file !== null) return basename(file).startsWith('busybox') ? null : `less ${options}`;
  }
  return null;
}

function realProgram(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}
