import type { Entry } from '../../chat/entry.js';
import { lastSkillMessage } from '../../chat/entry-list.js';
import type { SkillRecord } from '../../chat/message.js';
import type { SkillOverrides, SkillSelection } from '../common/skill-library.js';
import type { FoundSkill } from '../find/describe-skill.js';
import { choose, isStale, isWanted, type Situation } from './choose-skills.js';
import type { Matcher } from './matcher.js';
import { recentTexts } from './recent-texts.js';
import { advanceStanding } from './skill-standing.js';
import { stableOrder } from './stable-order.js';

/** What a selection is made from. */
export interface SelectionContext {
  readonly skills: readonly FoundSkill[];
  readonly matcher: Matcher;
  /** The most tokens that all skills may take together. */
  readonly budget: number;
  readonly evict_after: number;
  tokens(skill: FoundSkill): Promise<number>;
  /** False when its file is gone. */
  isReadable(skill: FoundSkill): Promise<boolean>;
  /** Whether all skills are sent, without matching. */
  sendsAll(): Promise<boolean>;
}

/** Chooses the skills for a new user message. Depends only on the log, the message and the overrides, and never fails. */
export async function selectSkills(
  context: SelectionContext,
  entries: readonly Entry[],
  text: string,
  requested: SkillOverrides,
  signal: AbortSignal,
): Promise<SkillSelection> {
  const last = lastSkillMessage(entries)?.skills ?? null;
  const before = last?.active ?? [];
  const overrides = applicable(requested, context.skills);
  const wasDropped = (name: string): boolean =>
    last?.standing?.[name]?.hand === 'dropped' && !overrides.pin.includes(name);
  const allowed = context.skills.filter(({ name }) => !overrides.drop.includes(name) && !wasDropped(name));
  const sendsAll = await context.sendsAll();

  const matched = sendsAll ? [] : await context.matcher.match(allowed, text, signal);
  const standing = advanceStanding(last, matched, overrides);
  const situation = { standing, matched, before, evict_after: context.evict_after };
  const held = sendsAll ? [] : heldBy(context, situation, entries, text);
  const wanted = sendsAll ? allowed.map(({ name }) => name) : await chosen(context, situation, held);
  const active = stableOrder(await readable(context, wanted), before);
  return {
    record: recordOf(situation, active, held, overrides),
    loaded: active.filter((name) => !before.includes(name)),
    dropped: before.filter((name) => !active.includes(name)),
  };
}

/** The overrides for existing skills. Loading wins over dropping the same skill. */
function applicable({ pin, drop }: SkillOverrides, skills: readonly FoundSkill[]): SkillOverrides {
  const names = skills.map(({ name }) => name);
  return {
    pin: names.filter((name) => pin.includes(name)),
    drop: names.filter((name) => drop.includes(name) && !pin.includes(name)),
  };
}

function heldBy(
  context: SelectionContext,
  situation: Situation,
  entries: readonly Entry[],
  text: string,
): readonly string[] {
  return context.skills
    .filter(({ name }) => isStale(name, situation))
    .filter((skill) => {
      const idle = situation.standing[skill.name]?.idle ?? Number.POSITIVE_INFINITY;
      return context.matcher.isRelevant(skill, recentTexts(entries, text, idle));
    })
    .map(({ name }) => name);
}

async function chosen(
  context: SelectionContext,
  situation: Situation,
  held: readonly string[],
): Promise<readonly string[]> {
  const wanted = context.skills.filter(({ name }) => isWanted(name, situation, held));
  const costs = new Map(await Promise.all(wanted.map(async (skill) => [skill, await context.tokens(skill)] as const)));
  return choose(wanted, situation, (skill) => costs.get(skill) ?? 0, context.budget);
}

/** The skills whose files can be read. */
async function readable(
  { skills, isReadable }: SelectionContext,
  names: readonly string[],
): Promise<readonly string[]> {
  const gone = await Promise.all(
    skills.map(async (skill) => (names.includes(skill.name) && !(await isReadable(skill)) ? [skill.name] : [])),
  );
  return names.filter((name) => !gone.flat().includes(name));
}

/** The record for the log, without empty fields. */
function recordOf(
  { matched, standing }: Situation,
  active: readonly string[],
  held: readonly string[],
  { pin, drop }: SkillOverrides,
): SkillRecord {
  return {
    matched,
    active,
    ...(held.length > 0 && { held }),
    ...(pin.length > 0 && { pinned: pin }),
    ...(drop.length > 0 && { dropped: drop }),
    ...(Object.keys(standing).length > 0 && { standing }),
  };
}
