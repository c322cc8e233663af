import { estimateTokens, type Tokens } from '../../chat/tokens.js';
import { systemCode } from '../../errors.js';
import type { SkillWarning } from '../common/skill.js';
import type { FoundSkill } from './describe-skill.js';
import { readBody } from './read-skill.js';

/** The texts of the skills, each read once, when it is first needed. */
export interface Bodies {
  /** The text of a skill without frontmatter; null when its file has gone or cannot be read, which is told to `warn` once. */
  text(skill: FoundSkill): Promise<string | null>;
  /** What it costs to send it. */
  tokens(skill: FoundSkill): Promise<Tokens>;
  /** Whether all of these together cost at most `limit`. Where their sizes leave no doubt, none is read. */
  fit(skills: readonly FoundSkill[], limit: number): Promise<boolean>;
}

/** No character of UTF-8 takes more bytes than this for one character of a JavaScript string. */
const BYTES_PER_CHARACTER = 3;

/** Bodies that stay as they were when first read: a file edited while `hi` runs is read anew by the next start. */
export function createBodies(warn: (warning: SkillWarning) => void): Bodies {
  const read = new Map<string, Promise<string | null>>();
  const text = (skill: FoundSkill): Promise<string | null> => {
    const known = read.get(skill.name);
    if (known) return known;
    const body = readBody(skill.path).catch((error: unknown) => {
      warn({ path: skill.path, reason: `cannot be read any more (${systemCode(error) ?? error})` });
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
