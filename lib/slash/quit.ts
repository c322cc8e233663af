import type { SlashCommand } from './command.js';

/** `/quit`: leaves; everything is on disk already. */
export const slashQuit: SlashCommand = {
  name: 'quit',
  aliases: ['exit', 'bye', 'q'],
  usage: '/quit',
  summary: 'leave; the conversation stays',
  async *run() {
    yield { type: 'leave' };
  },
};
