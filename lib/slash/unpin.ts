import { textOf } from '../chat/message.js';
import { HiError } from '../errors.js';
import type { SlashCommand } from './common/command.js';
import { beginningOf, whichMessage } from './common/shown.js';

const USAGE = '/unpin n|#ID';

/** `/unpin`: unpins a message, so that later compactions may replace it. */
export const slashUnpin: SlashCommand = {
  name: 'unpin',
  usage: USAGE,
  summary: 'unpin message n of /pins, or #ID',
  async *run(argument, { session }) {
    const pinned = session.pins.list();
    if (argument === '' && pinned.length !== 1) {
      const hint = pinned.length === 0 ? 'Nothing is pinned.' : `${USAGE}; /pins lists what is pinned.`;
      throw new HiError('usage', 'No message given.', { hint });
    }
    const message = await session.pins.unpin(whichMessage(argument === '' ? '1' : argument, USAGE));
    yield { type: 'print', text: `Unpinned #${message.id} "${beginningOf(textOf(message.content))}".` };
  },
};
