import { HiError } from '../errors.js';
import type { SlashCommand } from './common/command.js';

/** `/btw`: answers a question with the conversation as context, and keeps neither question nor answer. */
export const slashBtw: SlashCommand = {
  name: 'btw',
  usage: '/btw TEXT',
  summary: 'ask about the conversation without adding to it',
  takesWords: true,
  async *run(argument, { session }, signal) {
    if (argument === '') throw new HiError('usage', 'No question given.', { hint: 'Type: /btw TEXT' });
    yield* session.aside(argument, signal);
  },
};
