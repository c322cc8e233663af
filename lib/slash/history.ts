import { inReadingOrder, undoneTurns } from '../chat/entry-list.js';
import { transcriptOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { SlashCommand, SlashContext } from './common/command.js';

/** How many messages before and after a message are printed with it. */
const NEIGHBOURS = 5;

/** `/history`: prints the last messages of the conversation, or those around one message. */
export const slashHistory: SlashCommand = {
  name: 'history',
  usage: '/history [n|#ID]',
  summary: 'show the last n messages (20), or those around #ID',
  isOnCommandLine: true,
  async *run(argument, context) {
    const { session } = context;
    await session.history.refresh();
    if (argument.startsWith('#')) return yield { type: 'print', text: await around(argument, context), exact: true };
    const entries = await session.history.newest(countOf(argument));
    const lines: string[] = [];
    const undone = undoneTurns(session.history.loaded);
    for await (const entry of inReadingOrder(entries, session.history))
      lines.push(transcriptOf(entry, context.now(), undone));
    const text = lines.filter((line) => line !== '').join('\n');
    yield { type: 'print', text: text === '' ? 'The conversation is empty.' : text.trimEnd(), exact: true };
  },
};

function countOf(argument: string): number {
  const count = argument === '' ? 20 : Number(argument);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new HiError('usage', `Invalid number of messages '${argument}'.`, {
    hint: 'Use a whole number above 0, or the id of a message, such as #1.',
  });
}

/** The transcript of the messages around one, each with its id. */
async function around(argument: string, { session, now }: SlashContext): Promise<string> {
  const id = Number(argument.slice(1));
  const found = Number.isSafeInteger(id) ? await (await session.finder()).around(id, NEIGHBOURS, NEIGHBOURS) : [];
  if (found.some(({ message }) => message.id === id)) {
    return found.map(({ message }) => `#${message.id} · ${transcriptOf(message, now())}`.trimEnd()).join('\n\n');
  }
  throw new HiError('usage', `There is no message '${argument}'.`, { hint: 'Find one with: /find TEXT' });
}
