import type { SkillRecord, SkillStanding } from '../../chat/message.js';
import type { SkillOverrides } from '../common/skill.js';

/** How each skill stands, by name. */
export type Standing = Readonly<Record<string, SkillStanding>>;

/** A use counts half after twenty messages. */
const DECAY = 0.5 ** (1 / 20);

/** Below this a skill that is not sent is as good as never used, and is not carried along in the log. */
const FORGOTTEN = 0.25;

/** How the skills stand after one more message, given what it matched and what the user asked for by hand. */
export function advanceStanding(
  last: SkillRecord | null,
  matched: readonly string[],
  wishes: SkillOverrides,
): Standing {
  const before = last?.standing ?? {};
  const names = new Set([...Object.keys(before), ...matched, ...wishes.pin, ...wishes.drop]);
  const after = [...names].map((name) => [name, step(name, before[name], matched, wishes)] as const);
  const counts = ([name, { hand, uses }]: (typeof after)[number]): boolean =>
    hand !== undefined || uses >= FORGOTTEN || (last?.active.includes(name) ?? false);
  return Object.fromEntries(after.filter(counts));
}

function step(
  name: string,
  before: SkillStanding | undefined,
  matched: readonly string[],
  wishes: SkillOverrides,
): SkillStanding {
  const isUsed = matched.includes(name) || wishes.pin.includes(name);
  const uses = round((before?.uses ?? 0) * DECAY + (isUsed ? 1 : 0));
  const hand = wishes.pin.includes(name) ? 'pinned' : wishes.drop.includes(name) ? 'dropped' : before?.hand;
  return { uses, idle: isUsed ? 0 : (before?.idle ?? 0) + 1, ...(hand && { hand }) };
}

// Three decimals: the numbers stand in the log, and nothing turns on more.
function round(uses: number): number {
  return Math.round(uses * 1000) / 1000;
}
