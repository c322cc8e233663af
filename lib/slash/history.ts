import { inReadingOrder } from '../chat/reading-order.js';
import { transcriptOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { SlashCommand } from './command.js';

/** `/history`: prints the last messages of the archive. */
export const slashHistory: SlashCommand = {
  name: 'history',
  usage: '/history [n]',
  summary: 'show the last n messages (20)',
  isOnCommandLine: true,
  async *run(argument, { session }) {
    const count = argument === '' ? 20 : Number(argument);
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new HiError('usage', `Invalid number of messages '${argument}'.`, {
        hint: 'Use a whole number above 0.',
      });
    }
    await session.history.refresh();
    const entries = await session.history.newest(count);
    const lines: string[] = [];
    for await (const entry of inReadingOrder(entries, session.history)) lines.push(transcriptOf(entry));
    const text = lines.filter((line) => line !== '').join('\n');
    yield { type: 'print', text: text === '' ? 'The conversation is empty.' : text.trimEnd() };
  },
};
