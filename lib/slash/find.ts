import { findMessages } from '../chat/find-messages.js';
import { quantity } from '../chat/quantity.js';
import { HiError } from '../errors.js';
import type { SlashCommand } from './command.js';

/** `/find`: lists the messages of the whole archive that contain a text. */
export const slashFind: SlashCommand = {
  name: 'find',
  aliases: ['search'],
  usage: '/find TEXT',
  summary: 'search the whole conversation',
  takesWords: true,
  async *run(argument, { session }, signal) {
    if (argument === '') throw new HiError('usage', 'No search text given.', { hint: 'Type: /find TEXT' });
    await session.history.refresh();
    let found = 0;
    for await (const { message, text, index } of findMessages(session.history.archive(), argument, signal)) {
      found += 1;
      const when = message.at.slice(0, 16).replace('T', ' ');
      yield { type: 'print', text: `${message.id} · ${when} · ${message.role}: ${excerpt(text, index)}` };
    }
    yield {
      type: 'print',
      text: found === 0 ? `No message contains '${argument}'.` : `${quantity(found, 'message')}.`,
    };
  },
};

/** The words around a place in a text, on one line. */
function excerpt(text: string, place: number): string {
  const [from, to] = [Math.max(0, place - 60), place + 120];
  return `${from > 0 ? '…' : ''}${text.slice(from, to).replaceAll(/\s+/g, ' ').trim()}${to < text.length ? '…' : ''}`;
}
