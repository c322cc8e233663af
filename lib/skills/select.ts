import { type Entry, isMessage } from '../chat/entry.js';
import { lastSkillMessage, undoneTurns } from '../chat/entry-list.js';
import { isPart, type Message, type SkillRecord, type SkillStanding, textOf } from '../chat/message.js';
import type { FoundSkill } from './describe.js';
import type { Matcher } from './matcher.js';
import type { SkillOverrides, SkillSelection, SkillsOptions } from './skill.js';

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

/**
 * Chooses the skills for a new user message. Depends only on the log, the message and the overrides, and never fails.
 */
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
  const isLoaded = (name: string): boolean => overrides.pin.includes(name) || last?.standing?.[name]?.hand === 'pinned';
  const allowed = context.skills
    .filter(({ name }) => !overrides.drop.includes(name) && !wasDropped(name))
    .filter(({ name, byHand }) => !byHand || isLoaded(name));
  const sendsAll = await context.sendsAll();

  const matched = sendsAll ? [] : await context.matcher.match(allowed, text, signal);
  const standing = advanceStanding(last, matched, overrides);
  const situation = { standing, matched, before, evict_after: context.evict_after };
  const held = sendsAll ? [] : heldBy(context, allowed, situation, entries, text);
  const wanted = sendsAll ? allowed.map(({ name }) => name) : await chosen(context, allowed, situation, held);
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
  allowed: readonly FoundSkill[],
  situation: Situation,
  entries: readonly Entry[],
  text: string,
): readonly string[] {
  return allowed
    .filter(({ name }) => isStale(name, situation))
    .filter((skill) => {
      const idle = situation.standing[skill.name]?.idle ?? Number.POSITIVE_INFINITY;
      return context.matcher.isRelevant(skill, recentTexts(entries, text, idle));
    })
    .map(({ name }) => name);
}

async function chosen(
  context: SelectionContext,
  allowed: readonly FoundSkill[],
  situation: Situation,
  held: readonly string[],
): Promise<readonly string[]> {
  const wanted = allowed.filter(({ name }) => isWanted(name, situation, held));
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

/** What the choice depends on. */
interface Situation {
  readonly standing: SkillStandings;
  /** The skills that the message matched. */
  readonly matched: readonly string[];
  /** The skills sent with the previous message. */
  readonly before: readonly string[];
  readonly evict_after: number;
}

/**
 * True for a skill sent with the previous message that was not matched for `evict_after` messages. It is evicted unless
 * it is held.
 */
function isStale(name: string, { standing, matched, before, evict_after }: Situation): boolean {
  const { hand, idle } = standing[name] ?? UNKNOWN;
  return before.includes(name) && !matched.includes(name) && hand !== 'pinned' && idle >= evict_after;
}

/** True for a skill that should be sent: loaded by hand, matched, or neither stale nor dropped by hand. */
function isWanted(name: string, situation: Situation, held: readonly string[]): boolean {
  const { standing, matched, before } = situation;
  const { hand } = standing[name] ?? UNKNOWN;
  if (hand !== undefined) return hand === 'pinned';
  return matched.includes(name) || (before.includes(name) && (held.includes(name) || !isStale(name, situation)));
}

/**
 * The skills to send, by rank: those loaded by hand, those the message matched, then those kept from the previous
 * message; within each group by frequency of use, then by recency, then by priority. Kept skills are evicted while the
 * total exceeds `budget` tokens, except for the first one.
 */
function choose(
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

/** Usage statistics of each skill, by name. */
type SkillStandings = Readonly<Record<string, SkillStanding>>;

/** The weight of a use halves every twenty messages. */
const DECAY = 0.5 ** (1 / 20);

/** Below this a skill that is not sent counts as never used, and is no longer recorded in the log. */
const FORGOTTEN = 0.25;

/** The statistics after one more message, given the skills it matched and the user's overrides. */
function advanceStanding(
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

/** How many messages make up the recent conversation, including the one being sent. */
const RECENT = 4;

/**
 * The texts of the recent conversation since a skill was last matched, `idle` messages ago: the text that matched it
 * does not show that it is still needed. `idle` is infinite for a skill that never matched. Arguments of tool calls are
 * included, because they name files.
 */
function recentTexts(entries: readonly Entry[], text: string, idle: number): readonly string[] {
  const undone = undoneTurns(entries);
  const messages = entries.filter(isMessage).filter((message) => !undone.has(message.turn));
  const questions = messages.filter((message) => message.skills !== undefined);
  const since = questions.at(-idle)?.turn;
  const after =
    since === undefined ? messages : messages.slice(messages.findLastIndex(({ turn }) => turn === since) + 1);
  return [
    ...after
      .filter(({ role }) => role !== 'tool')
      .slice(1 - RECENT)
      .map(wordsIn),
    text,
  ];
}

function wordsIn({ content }: Message): string {
  const calls = content.filter(isPart('tool_call')).map(({ args }) => JSON.stringify(args));
  return [textOf(content), ...calls].join('\n');
}

/**
 * Orders the skills so that the request shares the longest prefix with the previous one, because a provider's prompt
 * cache covers the common prefix of two requests: up to the first skill that is gone, the others keep their places.
 * After that nothing is cached, so the rest follows in the given order, the most likely to stay first.
 */
export function stableOrder(wanted: readonly string[], before: readonly string[]): readonly string[] {
  const gap = before.findIndex((name) => !wanted.includes(name));
  const kept = gap === -1 ? before : before.slice(0, gap);
  return [...kept, ...wanted.filter((name) => !kept.includes(name))];
}

/** One sentence for the user when they have loaded or dropped the skill since the last message; else null. */
export function overrideFor(name: string, { pin, drop }: SkillOverrides): string | null {
  if (pin.includes(name)) return `Loaded by hand: it is sent with the next message. /skill -${name} drops it.`;
  if (drop.includes(name)) return `Dropped by hand: it is not sent with the next message. /skill ${name} loads it.`;
  return null;
}

/** One sentence for the user: whether the skill was sent with the newest message, and why. */
export function reasonFor(
  { name, byHand }: Pick<FoundSkill, 'name' | 'byHand'>,
  last: SkillRecord | null,
  sendsAll: boolean,
  options: SkillsOptions,
): string {
  const { hand, idle } = last?.standing?.[name] ?? { hand: undefined, idle: Number.POSITIVE_INFINITY };
  const isIn = last?.active.includes(name) ?? false;
  if (hand === 'dropped') return `Out: dropped by hand. /skill ${name} loads it.`;
  if (hand === 'pinned') return `In: loaded by hand. /skill -${name} drops it.`;
  if (byHand) return `Out: it is sent only if you load it (disable-model-invocation). /skill ${name} loads it.`;
  if (sendsAll && options.mode === 'all') return 'In: every skill is sent (skills.mode is "all").';
  if (sendsAll) return 'In: all skills together are small enough to be sent.';
  if (!isIn && idle < options.evict_after) return 'Out: matched recently, but evicted to make room for others.';
  if (!isIn) return `Out: not matched recently. /skill ${name} loads it.`;
  if (last?.held?.includes(name))
    return `In: not matched for ${idle} messages, but still relevant to the conversation.`;
  if (idle === 0) return 'In: the newest message matches it.';
  return `In: matched ${idle === 1 ? 'one message' : `${idle} messages`} ago; dropped after ${options.evict_after} messages without a match.`;
}
