import type { SkillStanding } from '../../chat/message.js';
import type { FoundSkill } from '../find/describe-skill.js';
import type { SkillStandings } from './skill-standing.js';

/** What the choice depends on. */
export interface Situation {
  readonly standing: SkillStandings;
  /** The skills that the message matched. */
  readonly matched: readonly string[];
  /** The skills sent with the previous message. */
  readonly before: readonly string[];
  readonly evict_after: number;
}

/** True for a skill sent with the previous message that was not matched for `evict_after` messages. It is evicted unless it is held. */
export function isStale(name: string, { standing, matched, before, evict_after }: Situation): boolean {
  const { hand, idle } = standing[name] ?? UNKNOWN;
  return before.includes(name) && !matched.includes(name) && hand !== 'pinned' && idle >= evict_after;
}

/** True for a skill that should be sent: loaded by hand, matched, or neither stale nor dropped by hand. */
export function isWanted(name: string, situation: Situation, held: readonly string[]): boolean {
  const { standing, matched, before } = situation;
  const { hand } = standing[name] ?? UNKNOWN;
  if (hand !== undefined) return hand === 'pinned';
  return matched.includes(name) || (before.includes(name) && (held.includes(name) || !isStale(name, situation)));
}

/**
 * The skills to send, by rank: those loaded by hand, those the message matched, then those kept from the previous message; within
 * each group by frequency of use, then by recency, then by priority. Kept skills are evicted while the total exceeds `budget` tokens,
 * except for the first one.
 */
export function choose(
  wanted: readonly FoundSkill[],
  situation: Situation,
  tokens: (skill: FoundSkill) => number,
  budget: number,
): readonly string[] {
  let left = budget;
  const fits = (skill: FoundSkill, index: number): boolean => {
    const isRequired = index === 0 || situation.matched.includes(skill.name) || isPinned(skill.name, situation);
    if (!isRequired && tokens(skill) > left) return false;
    left -= tokens(skill);
    return true;
  };
  const ranked = [...wanted].sort((one, other) => byRank(one, other, situation));
  return ranked.filter(fits).map(({ name }) => name);
}

function isPinned(name: string, { standing }: Situation): boolean {
  return standing[name]?.hand === 'pinned';
}

const UNKNOWN: SkillStanding = { uses: 0, idle: Number.POSITIVE_INFINITY };

function byRank(one: FoundSkill, other: FoundSkill, { standing, matched }: Situation): number {
  const [mine, yours] = [standing[one.name] ?? UNKNOWN, standing[other.name] ?? UNKNOWN];
  return (
    Number(yours.hand === 'pinned') - Number(mine.hand === 'pinned') ||
    Number(matched.includes(other.name)) - Number(matched.includes(one.name)) ||
    yours.uses - mine.uses ||
    mine.idle - yours.idle ||
    other.priority - one.priority ||
    (one.name < other.name ? -1 : 1)
  );
}
