import { HiError } from '../errors.js';
import type { SlashCommand } from './command.js';

/** `/btw`: a question that is answered in context and not kept. */
export const slashBtw: SlashCommand = {
  name: 'btw',
  usage: '/btw TEXT',
  summary: 'ask something in context that is not kept',
  takesWords: true,
  async *run(argument, { session }, signal) {
    if (argument === '') throw new HiError('usage', 'There is nothing to ask.', { hint: 'Type: /btw TEXT' });
    yield* session.aside(argument, signal);
  },
};
