import { type BigIntStats, lstatSync } from 'node:fs';
import { locate } from './resolve-path.js';

/** A place as it was when it was judged. What is opened later must be the same file, not one that was put there meanwhile. */
export interface JudgedPlace {
  /** The path with links and `..` resolved; as it was written where it cannot be resolved. */
  readonly path: string;
  /** Which file it is; null where there is none. */
  readonly file: string | null;
  /** Which content it has, as far as size and time tell. */
  readonly content: string | null;
}

/** Resolves a path, once for judge and tool. Never throws. */
export async function judgedPlace(path: string, folder: string): Promise<JudgedPlace> {
  const { real, absolute } = await locate(path, folder);
  const found = statOrNull(real ?? absolute);
  return {
    path: real ?? absolute,
    file: found === null ? null : identityOf(found),
    content: found === null ? null : `${found.size}:${found.mtimeNs}`,
  };
}

/** Identifies a file by device and inode. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function statOrNull(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}
