import { HiError } from '../errors.js';
import type { SlashCommand } from './common/command.js';

/** `/remember`: adds a line to the memory, which is sent with every request. */
export const slashRemember: SlashCommand = {
  name: 'remember',
  usage: '/remember TEXT',
  summary: 'always keep TEXT in mind',
  takesWords: true,
  async *run(argument, { memory }) {
    if (argument === '') throw new HiError('usage', 'No text given.', { hint: 'Type: /remember TEXT' });
    const { file, origin } = await memory();
    const { kind } = await file.keep(argument, origin('user'));
    yield {
      type: 'print',
      text: kind === 'known' ? 'Already remembered.' : 'Remembered. To edit the memory, type: /memory',
    };
  },
};
