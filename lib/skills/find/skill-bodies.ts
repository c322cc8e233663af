import { estimateTokens, type Tokens } from '../../chat/request.js';
import { systemCode } from '../../errors.js';
import type { SkillWarning } from '../common/skill-library.js';
import type { FoundSkill } from './describe-skill.js';
import { readBody } from './read-skill.js';

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
    const body = readBody(skill.path).catch((error: unknown) => {
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
