import type { SkillRecord } from '../../chat/message.js';
import type { SkillOverrides } from '../common/skill-library.js';
import type { SkillsOptions } from '../common/skill-options.js';

/** One sentence for the user when they have loaded or dropped the skill since the last message; else null. */
export function overrideFor(name: string, { pin, drop }: SkillOverrides): string | null {
  if (pin.includes(name)) return `Loaded by hand: it is sent with the next message. /skill -${name} drops it.`;
  if (drop.includes(name)) return `Dropped by hand: it is not sent with the next message. /skill ${name} loads it.`;
  return null;
}

/** One sentence for the user: whether the skill was sent with the newest message, and why. */
export function reasonFor(name: string, last: SkillRecord | null, sendsAll: boolean, options: SkillsOptions): string {
  const { hand, idle } = last?.standing?.[name] ?? { hand: undefined, idle: Number.POSITIVE_INFINITY };
  const isIn = last?.active.includes(name) ?? false;
  if (hand === 'dropped') return `Out: dropped by hand. /skill ${name} loads it.`;
  if (hand === 'pinned') return `In: loaded by hand. /skill -${name} drops it.`;
  if (sendsAll && options.mode === 'all') return 'In: every skill is sent (skills.mode is "all").';
  if (sendsAll) return 'In: all skills together are small enough to be sent.';
  if (!isIn && idle < options.evict_after) return 'Out: matched recently, but evicted to make room for others.';
  if (!isIn) return `Out: not matched recently. /skill ${name} loads it.`;
  if (last?.held?.includes(name))
    return `In: not matched for ${idle} messages, but still relevant to the conversation.`;
  if (idle === 0) return 'In: the newest message matches it.';
  return `In: matched ${idle === 1 ? 'one message' : `${idle} messages`} ago; dropped after ${options.evict_after} messages without a match.`;
}
