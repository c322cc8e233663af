import { existsSync } from 'node:fs';
import { isMessage } from '../chat/message.js';
import type { SkillLibrary } from './common/skill.js';
import type { SkillsOptions } from './common/skill-options.js';

export type { SkillsOptions } from './common/skill-options.js';

/**
 * Finds the skills of a folder. Never fails: what is broken is left out and is a warning of the library.
 * Where there is no folder, and none was there in the conversation, nothing of this room is loaded.
 */
export async function openSkills(options: SkillsOptions): Promise<SkillLibrary> {
  return existsSync(options.folder) ? await opened(options) : absent(options);
}

async function opened(options: SkillsOptions): Promise<SkillLibrary> {
  return await (await import('./open.js')).openLibrary(options);
}

function absent(options: SkillsOptions): SkillLibrary {
  return {
    skills: [],
    warnings: [],
    asks: false,
    async select(entries, text, wishes, signal) {
      const knew = entries.some((entry) => isMessage(entry) && (entry.skills?.active.length || entry.skills?.standing));
      if (knew) return await (await opened(options)).select(entries, text, wishes, signal);
      return { record: { matched: [], active: [] }, loaded: [], dropped: [] };
    },
    texts: async () => [],
    cuts: [],
    explain: async (name, entries, wishes) => await (await opened(options)).explain(name, entries, wishes),
  };
}
