import { textOf } from '../chat/message.js';
import type { SlashCommand } from './common/command.js';
import { beginningOf, whichMessage } from './common/shown.js';

const USAGE = '/pin [n|#ID]';

/** `/pin`: keeps a message in view, word for word, through every compaction. */
export const slashPin: SlashCommand = {
  name: 'pin',
  usage: USAGE,
  summary: 'always keep the last message, or #ID, in view',
  async *run(argument, { session }) {
    const { message, isNew } = await session.pins.pin(whichMessage(argument === '' ? '1' : argument, USAGE));
    const what = `#${message.id} "${beginningOf(textOf(message.content))}"`;
    const { tokens, room } = session.pins;
    const text = isNew ? `Pinned ${what}. Pins take ${tokens} of ${room} tokens.` : `${what} is already pinned.`;
    yield { type: 'print', text };
  },
};
