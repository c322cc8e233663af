import type { SlashCommand } from './common/command.js';

/** `/compact`: makes the conversation shorter for the model, now. */
export const slashCompact: SlashCommand = {
  name: 'compact',
  aliases: ['compress', 'summarize'],
  usage: '/compact [focus]',
  summary: 'compact now; focus is optional',
  isOnCommandLine: true,
  async *run(argument, { session }, signal) {
    yield* session.compact({ focus: argument === '' ? null : argument, strategy: null }, signal);
  },
};
