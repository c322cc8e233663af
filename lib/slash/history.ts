import { inReadingOrder, undoneTurns } from '../chat/entry-list.js';
import { HiError } from '../errors.js';
import type { SlashCommand, SlashContext, SlashEvent } from './common/command.js';

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
    if (argument.startsWith('#')) return yield* around(argument, context);
    const entries = await session.history.newest(countOf(argument));
    const undone = undoneTurns(session.history.loaded);
    const now = context.now();
    let isEmpty = true;
    for await (const entry of inReadingOrder(entries, session.history)) {
      isEmpty = false;
      yield { type: 'entry', entry, now, undone };
    }
    if (isEmpty) yield { type: 'print', text: 'The conversation is empty.' };
  },
};

function countOf(argument: string): number {
  const count = argument === '' ? 20 : Number(argument);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new HiError('usage', `Invalid number of messages '${argument}'.`, {
    hint: 'Use a whole number above 0, or the id of a message, such as #1.',
  });
}

/** The messages around one, or around a compaction, each with its id. */
async function* around(argument: string, { session, now }: SlashContext): AsyncGenerator<SlashEvent> {
  const [, book = null, id = ''] = /^#(?:([^:]+):)?(\d+)$/.exec(argument) ?? [];
  const entries = await (await session.finder()).placeOf(Number(id), NEIGHBOURS, book);
  if (entries.length === 0)
    throw new HiError('usage', `There is no message '${argument}'.`, { hint: 'Find one with: /find TEXT' });
  const at = now();
  const undone = undoneTurns(session.history.loaded);
  for (const entry of entries) yield { type: 'entry', entry, now: at, undone, hasId: true };
}
