import type { SkillWarning } from '../common/skill-library.js';
import type { Stems } from '../match/significant-words.js';
import { type Described, describeSkill, type FoundSkill } from './describe-skill.js';
import { readKnown, writeKnown } from './known-files.js';
import { type SkillFile, scanFolder } from './scan.js';

export interface LoadedSkills {
  /** Sorted by name. */
  readonly skills: readonly FoundSkill[];
  readonly warnings: readonly SkillWarning[];
}

/**
 * Loads the skills of a folder. Reads the head of each file, except for files unchanged since the cache `knownFile` was written
 * (null: no cache). Never fails: a broken skill is left out with a warning.
 */
export async function loadSkills(folder: string, knownFile: string | null): Promise<LoadedSkills> {
  const { files, warnings } = scanFolder(folder);
  const described = await describeAll(files, knownFile);
  const skills = new Map<string, FoundSkill>();
  const all = [...warnings];
  for (const [{ path }, { skill, reasons }] of described) {
    for (const reason of reasons) all.push({ path, reason });
    if (skill === null) continue;
    const key = skill.name.normalize('NFC').toLowerCase();
    const first = skills.get(key);
    if (first) all.push({ path, reason: `the name '${skill.name}' is already used by ${first.path}; left out` });
    else skills.set(key, skill);
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
    const before = known?.get(file) ?? null;
    hasNew ||= before === null;
    described.push([file, before ?? (await describeSkill(file, stems))]);
  }
  if (hasNew && knownFile !== null) writeKnown(knownFile, described);
  return described;
}
