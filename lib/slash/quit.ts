import type { SlashCommand } from './common/command.js';

/** `/quit`: ends the chat. Everything is on disk already. */
export const slashQuit: SlashCommand = {
  name: 'quit',
  aliases: ['exit', 'bye', 'q'],
  usage: '/quit',
  summary: 'quit; the conversation is kept',
  async *run() {
    yield { type: 'leave' };
  },
};
