import { type BigIntStats, lstatSync } from 'node:fs';
import { locate } from './resolve-path.js';

/** A path at the time of judging. The file opened later must be the same one, not a replacement. */
export interface JudgedPlace {
  /** The path with links and `..` resolved; unchanged if it cannot be resolved. */
  readonly path: string;
  /** Identifies the file; null if there is none. */
  readonly file: string | null;
  /** Identifies its content by size and time. */
  readonly content: string | null;
}

/** Resolves a path once, for both judging and the tool. Never throws. */
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
