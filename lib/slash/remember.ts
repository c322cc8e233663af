import { HiError } from '../errors.js';
import type { SlashCommand } from './command.js';

/** `/remember`: adds a line to what goes with every request. */
export const slashRemember: SlashCommand = {
  name: 'remember',
  usage: '/remember TEXT',
  summary: 'keep TEXT in mind always',
  takesWords: true,
  async *run(argument, { memory }) {
    if (argument === '') throw new HiError('usage', 'No text given.', { hint: 'Type: /remember TEXT' });
    const { file, origin } = await memory();
    const { kind } = await file.keep(argument, origin('user'));
    yield {
      type: 'print',
      text: kind === 'known' ? 'That is remembered already.' : 'Remembered. /memory opens it all.',
    };
  },
};
