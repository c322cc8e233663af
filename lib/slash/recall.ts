import { pick } from '../registry.js';
import type { SlashCommand } from './common/command.js';

const WORDS = ['off', 'on', 'why'] as const;
const ORDERS = WORDS.map((name) => ({ name }));

/**
 * `/recall`: shows or sets, for the rest of the chat, whether earlier messages are recalled automatically; `why`
 * explains the last choice.
 */
export const slashRecall: SlashCommand = {
  name: 'recall',
  usage: '/recall on|off|why',
  summary: 'show or set automatic recall, or explain its last choice',
  complete: async (typed) => WORDS.filter((word) => word.startsWith(typed)),
  async *run(argument, { session: { reminders } }) {
    const order = argument === '' ? null : pick(ORDERS, argument, 'setting', 'usage').name;
    if (order === 'why') yield { type: 'print', text: reminders.why };
    else {
      if (order !== null) reminders.isOn = order === 'on';
      yield { type: 'print', text: `Automatic recall: ${reminders.isOn ? 'on' : 'off'}.` };
    }
  },
};
