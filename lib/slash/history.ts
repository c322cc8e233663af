import { inReadingOrder } from '../chat/reading-order.js';
import { transcriptOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { SlashCommand } from './command.js';

/** `/history`: the last messages, or the whole transcript of the archive. */
export const slashHistory: SlashCommand = {
  name: 'history',
  usage: '/history [n]',
  summary: 'show the last n messages (20)',
  isOnCommandLine: true,
  async *run(argument, { session }) {
    const count = argument === '' ? 20 : Number(argument);
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new HiError('usage', `'${argument}' is not a number of messages.`, {
        hint: 'Give a whole number above 0.',
      });
    }
    await session.history.refresh();
    const entries = await session.history.newest(count);
    const text: string[] = [];
    for await (const entry of inReadingOrder(entries, session.history)) text.push(transcriptOf(entry));
    const read = text.filter((one) => one !== '').join('\n');
    yield { type: 'print', text: read === '' ? 'The conversation is empty.' : read.trimEnd() };
  },
};
