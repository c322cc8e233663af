import { nextThinking, THINKING_LEVELS, type ThinkingLevel } from '../chat/thinking-level.js';
import { pick } from '../registry.js';
import type { SlashCommand } from './command.js';

const LEVELS: readonly { readonly name: string; readonly level: ThinkingLevel | null }[] = [
  ...THINKING_LEVELS.map((level) => ({ name: level, level })),
  { name: 'default', level: null },
];

/** `/think`: shows how hard the model thinks, or changes it for the rest of the chat. */
export const slashThink: SlashCommand = {
  name: 'think',
  usage: '/think [level]',
  summary: 'show or set how hard the model thinks',
  complete: async (typed) => LEVELS.map(({ name }) => name).filter((name) => name.startsWith(typed)),
  async *run(argument, { session }) {
    if (argument !== '') session.useThinking(pick(LEVELS, argument, 'level of thinking', 'usage').level);
    const { thinking, target } = session;
    if (thinking === null) return yield { type: 'print', text: `Thinking: the default of ${target.model}.` };
    const taken = nextThinking(thinking, target.memory.facts.refused_thinking ?? []);
    const instead = taken === thinking ? '' : ` ${target.model} does not take it: ${taken ?? 'its own way'} is used.`;
    yield { type: 'print', text: `Thinking: ${thinking}.${instead}` };
  },
};
