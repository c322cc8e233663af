import { dirname } from 'node:path';
import { makeFolder } from '../../folder.js';
import { readRegularFile } from '../../regular-file.js';
import { writeAside } from '../../write-aside.js';
import type { Described } from './describe-skill.js';
import type { SkillFile } from './scan.js';

/** Raise it when what is kept changes: fields, stems, reasons. */
const VERSION = 2;

/** What is known from an earlier start of files that have not changed since. */
export interface KnownFiles {
  /** Null for a file that is new or has changed. */
  get(file: SkillFile): Described | null;
}

/**
 * What an earlier start kept, so that five hundred skills cost a look at their dates instead of being read and taken apart.
 * Nothing is known when the file is not there, damaged or of another version.
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

/** Keeps what was found out about these files for the next start. What cannot be written is found out again. */
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

/** Path, stamp, what is wrong with it, description (null when it is no skill), priority, stems. */
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
