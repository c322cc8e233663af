import type { SkillRecord, SkillStanding } from '../../chat/message.js';
import type { SkillOverrides } from '../common/skill-library.js';

/** Usage statistics of each skill, by name. */
export type SkillStandings = Readonly<Record<string, SkillStanding>>;

/** The weight of a use halves every twenty messages. */
const DECAY = 0.5 ** (1 / 20);

/** Below this a skill that is not sent counts as never used, and is no longer recorded in the log. */
const FORGOTTEN = 0.25;

/** The statistics after one more message, given the skills it matched and the user's overrides. */
export function advanceStanding(
  last: SkillRecord | null,
  matched: readonly string[],
  overrides: SkillOverrides,
): SkillStandings {
  const before = last?.standing ?? {};
  const names = new Set([...Object.keys(before), ...matched, ...overrides.pin, ...overrides.drop]);
  const after = [...names].map((name) => [name, step(name, before[name], matched, overrides)] as const);
  const counts = ([name, { hand, uses }]: (typeof after)[number]): boolean =>
    hand !== undefined || uses >= FORGOTTEN || (last?.active.includes(name) ?? false);
  return Object.fromEntries(after.filter(counts));
}

function step(
  name: string,
  before: SkillStanding | undefined,
  matched: readonly string[],
  overrides: SkillOverrides,
): SkillStanding {
  const isUsed = matched.includes(name) || overrides.pin.includes(name);
  const uses = round((before?.uses ?? 0) * DECAY + (isUsed ? 1 : 0));
  const hand = overrides.pin.includes(name) ? 'pinned' : overrides.drop.includes(name) ? 'dropped' : before?.hand;
  return { uses, idle: isUsed ? 0 : (before?.idle ?? 0) + 1, ...(hand && { hand }) };
}

// Three decimals keep the log short and are precise enough.
function round(uses: number): number {
  return Math.round(uses * 1000) / 1000;
}
