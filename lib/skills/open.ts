import { createLibrary } from './library.js';
import { loadSkills } from './load.js';
import type { SkillsOptions } from './options.js';
import type { SkillLibrary } from './skill.js';

/** Reads the folder and makes its library. Never fails. */
export async function openLibrary(options: SkillsOptions): Promise<SkillLibrary> {
  const { skills, warnings } = await loadSkills(options.folder, options.known_file ?? null);
  return createLibrary(skills, warnings, options);
}
