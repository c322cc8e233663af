import type { SkillStanding } from '../../chat/message.js';
import type { FoundSkill } from '../find/describe-skill.js';
import type { Standing } from './skill-standing.js';

/** What a choice depends on. */
export interface Situation {
  readonly standing: Standing;
  /** What the message matched. */
  readonly matched: readonly string[];
  /** What was sent with the message before. */
  readonly before: readonly string[];
  readonly evict_after: number;
}

/** True for a skill that was sent with the message before, was not matched for `evict_after` messages, and so goes unless something holds it. */
export function isStale(name: string, { standing, matched, before, evict_after }: Situation): boolean {
  const { hand, idle } = standing[name] ?? UNKNOWN;
  return before.includes(name) && !matched.includes(name) && hand !== 'pinned' && idle >= evict_after;
}

/** True for a skill that should go with the message: loaded by hand, matched, or neither gone stale nor dropped by hand. */
export function isWanted(name: string, situation: Situation, held: readonly string[]): boolean {
  const { standing, matched, before } = situation;
  const { hand } = standing[name] ?? UNKNOWN;
  if (hand !== undefined) return hand === 'pinned';
  return matched.includes(name) || (before.includes(name) && (held.includes(name) || !isStale(name, situation)));
}

/**
 * The skills that go with the message, the most wanted first: those loaded by hand, those it matched, then those that stay from before;
 * within each the frequent before the recent before those of low priority. What stays from before makes room while all together
 * cost more than `budget` tokens; the first of all does not.
 */
export function choose(
  wanted: readonly FoundSkill[],
  situation: Situation,
  tokens: (skill: FoundSkill) => number,
  budget: number,
): readonly string[] {
  let left = budget;
  const fits = (skill: FoundSkill, index: number): boolean => {
    const isSure = index === 0 || situation.matched.includes(skill.name) || isPinned(skill.name, situation);
    if (!isSure && tokens(skill) > left) return false;
    left -= tokens(skill);
    return true;
  };
  const ranked = [...wanted].sort((one, other) => byWant(one, other, situation));
  return ranked.filter(fits).map(({ name }) => name);
}

function isPinned(name: string, { standing }: Situation): boolean {
  return standing[name]?.hand === 'pinned';
}

const UNKNOWN: SkillStanding = { uses: 0, idle: Number.POSITIVE_INFINITY };

function byWant(one: FoundSkill, other: FoundSkill, { standing, matched }: Situation): number {
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
