import type { Command } from './command.js';

/** `/quit`: leaves; everything is on disk already. */
export const quit: Command = {
  name: 'quit',
  aliases: ['exit', 'bye', 'q'],
  usage: '/quit',
  summary: 'leave; the conversation stays',
  async *run() {
    yield { type: 'leave' };
  },
};
