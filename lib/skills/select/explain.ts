import type { SkillRecord } from '../../chat/message.js';
import type { SkillOverrides } from '../common/skill.js';
import type { SkillsOptions } from '../common/skill-options.js';

/** What was asked for by hand and comes with the next message, as one sentence for the user; null when nothing was. */
export function overrideFor(name: string, { pin, drop }: SkillOverrides): string | null {
  if (pin.includes(name)) return `Loaded by hand: it comes with the next message. /skill -${name} drops it.`;
  if (drop.includes(name)) return `Dropped by hand: it does not go with the next message. /skill ${name} loads it.`;
  return null;
}

/** Why a skill is in or out after the newest message, as one sentence for the user. */
export function reasonFor(name: string, last: SkillRecord | null, sendsAll: boolean, options: SkillsOptions): string {
  const { hand, idle } = last?.standing?.[name] ?? { hand: undefined, idle: Number.POSITIVE_INFINITY };
  const isIn = last?.active.includes(name) ?? false;
  if (hand === 'dropped') return `Out: dropped by hand. /skill ${name} loads it.`;
  if (hand === 'pinned') return `In: loaded by hand. /skill -${name} drops it.`;
  if (sendsAll && options.mode === 'all') return 'In: every skill is sent (skills.mode is "all").';
  if (sendsAll) return 'In: all skills together fit into their share of the window.';
  if (!isIn && idle < options.evict_after) return 'Out: a message was about it lately, but it made room for others.';
  if (!isIn) return `Out: no message was about it lately. /skill ${name} loads it.`;
  if (last?.held?.includes(name))
    return `In: not matched for ${idle} messages, but the conversation still bears on it.`;
  if (idle === 0) return 'In: the newest message is about it.';
  return `In: matched ${idle === 1 ? 'one message' : `${idle} messages`} ago; ${options.evict_after} without a match and it goes.`;
}
