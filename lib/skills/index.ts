import { existsSync } from 'node:fs';
import { isMessage } from '../chat/entry.js';
import { openLibrary } from './library.js';
import { noSkillsIn, type SkillLibrary, type SkillsOptions } from './skill.js';

export type { SkillsOptions } from './skill.js';

/**
 * Finds the skills in the folders. Never fails: a broken skill is left out and reported as a warning.
 * Without a folder, and without skills earlier in the conversation, no other module of this folder is loaded.
 */
export async function openSkills(options: SkillsOptions): Promise<SkillLibrary> {
  const isSome = (options.project ?? []).length > 0;
  return isSome || [options.folder, ...(options.shared_folders ?? [])].some((folder) => existsSync(folder))
    ? await opened(options)
    : absent(options);
}

async function opened(options: SkillsOptions): Promise<SkillLibrary> {
  return await openLibrary(options);
}

function absent(options: SkillsOptions): SkillLibrary {
  return {
    absence: noSkillsIn(options.folder),
    skills: [],
    warnings: [],
    asks: false,
    async select(entries, text, overrides, signal) {
      const hadSkills = entries.some(
        (entry) => isMessage(entry) && (entry.skills?.active.length || entry.skills?.standing),
      );
      if (hadSkills) return await (await opened(options)).select(entries, text, overrides, signal);
      return { record: { matched: [], active: [] }, loaded: [], dropped: [] };
    },
    texts: async () => [],
    cuts: [],
    explain: async (name, entries, overrides) => await (await opened(options)).explain(name, entries, overrides),
  };
}
