import type { SkillLibrary } from './common/skill-library.js';
import type { SkillsOptions } from './common/skill-options.js';
import { loadSkills } from './find/load-skills.js';
import { FolderLibrary } from './folder-library.js';

/** Reads the folder and creates its library. Never fails. */
export async function openLibrary(options: SkillsOptions): Promise<SkillLibrary> {
  const { skills, warnings } = await loadSkills(options.folder, options.known_file ?? null);
  return new FolderLibrary(skills, warnings, options);
}
