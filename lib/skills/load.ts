import { dirname } from 'node:path';
import { estimateTokens, type Tokens } from '../chat/request.js';
import { makeFolder, readRegularFile, writeAside } from '../disk.js';
import { systemCode } from '../errors.js';
import { type Described, describeSkill, type FoundSkill, readBody } from './describe.js';
import type { Stems } from './match.js';
import { givenFiles, type SkillFile, scanFolder, scanSharedFolder } from './scan.js';
import type { SkillsOptions, SkillWarning } from './skill.js';

interface LoadedSkills {
  /** Sorted by name. */
  readonly skills: readonly FoundSkill[];
  readonly warnings: readonly SkillWarning[];
}

/**
 * Loads the skills of a folder, and of the `shared` ones, which other programs read too, and those of a `project`.
 * Reads the head of each file, except for files unchanged since the cache `knownFile` was written (null: no cache). Of
 * one name the first folder's is used. Never fails: a broken skill is left out with a warning.
 */
export async function loadSkills(
  folder: string,
  knownFile: string | null,
  shared: readonly string[] = [],
  project: SkillsOptions['project'] = [],
): Promise<LoadedSkills> {
  const own = scanFolder(folder);
  const scans = [own, ...shared.map((each) => scanSharedFolder(each, [folder, ...shared]))];
  const described = await describeAll([...scans.flatMap(({ files }) => files), ...givenFiles(project)], knownFile);
  const isOwn = new Set(own.files.map(({ path }) => path));
  const skills = new Map<string, FoundSkill>();
  const all = scans.flatMap(({ warnings }) => warnings);
  for (const [{ path }, { skill, reasons }] of described) {
    for (const reason of reasons) all.push({ path, reason });
    if (skill === null) continue;
    const key = skill.name.normalize('NFC').toLowerCase();
    const first = skills.get(key);
    // Shared folders often hold the same skills, one linked to the other.
    if (first && isOwn.has(path))
      all.push({ path, reason: `the name '${skill.name}' is already used by ${first.path}; left out` });
    else if (!first) skills.set(key, skill);
  }
  return { skills: [...skills.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), warnings: all };
}

type DescribedFile = readonly [SkillFile, Described];

async function describeAll(files: readonly SkillFile[], knownFile: string | null): Promise<readonly DescribedFile[]> {
  if (files.length === 0) return [];
  const known = knownFile === null ? null : readKnown(knownFile);
  const stems: Stems = new Map();
  const described: DescribedFile[] = [];
  let hasNew = false;
  for (const file of files) {
    const before = file.text === undefined ? (known?.get(file) ?? null) : null;
    hasNew ||= before === null && file.text === undefined;
    described.push([file, before ?? (await describeSkill(file, stems))]);
  }
  if (hasNew && knownFile !== null) writeKnown(knownFile, described);
  return described;
}

/** Increment when the stored fields, stems or reasons change. */
const VERSION = 4;

/** Descriptions cached by an earlier start, for files that have not changed since. */
interface KnownFiles {
  /** Null for a new or changed file. */
  get(file: SkillFile): Described | null;
}

/**
 * Reads the cache of an earlier start, so that five hundred skills need only a `stat` each instead of being read and
 * parsed. A missing or damaged cache, or one of another version, counts as empty.
 */
function readKnown(path: string): KnownFiles {
  const rows = new Map(rowsIn(path).map((row) => [row[0], row]));
  return {
    get(file) {
      const row = rows.get(file.path);
      if (row === undefined || row[1] !== file.stamp) return null;
      const [, , reasons, description, priority, stems, byHand] = row;
      if (description === null) return { skill: null, reasons };
      const { name, path, bytes, folder } = file;
      return { skill: { name, description, path, bytes, folder, priority, stems, byHand }, reasons };
    },
  };
}

/** Caches these descriptions for the next start. A write error is ignored: the next start reads the files again. */
function writeKnown(path: string, files: readonly (readonly [SkillFile, Described])[]): void {
  const rows = files
    .filter(([{ text }]) => text === undefined)
    .map(([file, { skill, reasons }]): Row => {
      const { description = null, priority = 0, stems = '', byHand = false } = skill ?? {};
      return [file.path, file.stamp, reasons, description, priority, stems, byHand];
    });
  try {
    makeFolder(dirname(path), 0o700);
    writeAside(path, JSON.stringify([VERSION, ...rows]), { mode: 0o600, synced: false });
  } catch {
    return;
  }
}

/**
 * Path, stamp, problems, description (null for a file that is left out), priority, stems, whether only the user loads
 * it.
 */
type Row = readonly [string, string, readonly string[], string | null, number, string, boolean];

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
  const [path, stamp, reasons, description, priority, stems, byHand] = value;
  const texts = [path, stamp, stems, description ?? ''];
  if (!texts.every((text) => typeof text === 'string') || !Array.isArray(reasons)) return false;
  return typeof priority === 'number' && typeof byHand === 'boolean';
}

/** The texts of the skills, each read once, on first use. */
export interface Bodies {
  /** The text of a skill without frontmatter; null, with one warning, when its file is gone or cannot be read. */
  text(skill: FoundSkill): Promise<string | null>;
  /** How many tokens its text takes. */
  tokens(skill: FoundSkill): Promise<Tokens>;
  /** Whether all of these together take at most `limit` tokens. Files are not read when their sizes alone exceed it. */
  fit(skills: readonly FoundSkill[], limit: number): Promise<boolean>;
}

/** UTF-8 takes at most this many bytes for one UTF-16 code unit. */
const BYTES_PER_CHARACTER = 3;

/** Reads the texts of skills and keeps them: an edit made while `hi` runs takes effect at the next start. */
export function createBodies(warn: (warning: SkillWarning) => void): Bodies {
  const read = new Map<string, Promise<string | null>>();
  const text = (skill: FoundSkill): Promise<string | null> => {
    const known = read.get(skill.name);
    if (known) return known;
    const body = readBody(skill).catch((error: unknown) => {
      warn({ path: skill.path, reason: `can no longer be read (${systemCode(error) ?? error})` });
      return null;
    });
    read.set(skill.name, body);
    return body;
  };
  const tokens = async (skill: FoundSkill): Promise<Tokens> => estimateTokens((await text(skill))?.length ?? 0);
  return {
    text,
    tokens,
    async fit(skills, limit) {
      const bytes = skills.reduce((sum, skill) => sum + skill.bytes, 0);
      if (estimateTokens(bytes / BYTES_PER_CHARACTER) > limit) return false;
      const costs = await Promise.all(skills.map(tokens));
      return costs.reduce((sum, cost) => sum + cost, 0) <= limit;
    },
  };
}
