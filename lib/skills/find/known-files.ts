import { dirname } from 'node:path';
import { makeFolder } from '../../folder.js';
import { readRegularFile } from '../../regular-file.js';
import { writeAside } from '../../write-aside.js';
import type { Described } from './describe-skill.js';
import type { SkillFile } from './scan.js';

/** Increment when the stored fields, stems or reasons change. */
const VERSION = 3;

/** Descriptions cached by an earlier start, for files that have not changed since. */
export interface KnownFiles {
  /** Null for a new or changed file. */
  get(file: SkillFile): Described | null;
}

/**
 * Reads the cache of an earlier start, so that five hundred skills need only a `stat` each instead of being read and parsed.
 * A missing or damaged cache, or one of another version, counts as empty.
 */
export function readKnown(path: string): KnownFiles {
  const rows = new Map(rowsIn(path).map((row) => [row[0], row]));
  return {
    get(file) {
      const row = rows.get(file.path);
      if (row === undefined || row[1] !== file.stamp) return null;
      const [, , reasons, description, priority, stems] = row;
      if (description === null) return { skill: null, reasons };
      const { name, path, bytes, folder } = file;
      return { skill: { name, description, path, bytes, folder, priority, stems }, reasons };
    },
  };
}

/** Caches these descriptions for the next start. A write error is ignored: the next start reads the files again. */
export function writeKnown(path: string, files: readonly (readonly [SkillFile, Described])[]): void {
  const rows = files.map(([file, { skill, reasons }]): Row => {
    const { description = null, priority = 0, stems = '' } = skill ?? {};
    return [file.path, file.stamp, reasons, description, priority, stems];
  });
  try {
    makeFolder(dirname(path), 0o700);
    writeAside(path, JSON.stringify([VERSION, ...rows]), { mode: 0o600, synced: false });
  } catch {
    return;
  }
}

/** Path, stamp, problems, description (null for a file that is left out), priority, stems. */
type Row = readonly [string, string, readonly string[], string | null, number, string];

function rowsIn(path: string): readonly Row[] {
  try {
    const stored: unknown = JSON.parse(readRegularFile(path).toString());
    return Array.isArray(stored) && stored[0] === VERSION ? stored.filter(isRow) : [];
  } catch {
    return [];
  }
}

function isRow(value: unknown): value is Row {
  if (!Array.isArray(value)) return false;
  const [path, stamp, reasons, description, priority, stems] = value;
  const texts = [path, stamp, stems, description ?? ''];
  return texts.every((text) => typeof text === 'string') && Array.isArray(reasons) && typeof priority === 'number';
}
