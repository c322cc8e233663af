import { quantity } from '../chat/text.js';
import type { SlashCommand } from './common/command.js';

/** `/on`: forgets what was said off the record, and stores what is said from now on. */
export const slashOn: SlashCommand = {
  name: 'on',
  usage: '/on',
  summary: 'back on the record',
  async *run(_argument, { session }) {
    if (session.history.keeping !== 'off-record')
      return yield { type: 'print', text: 'The chat is already on the record. To go off it, type: /off' };
    const forgotten = await session.goOnRecord();
    const text = forgotten === 0 ? '' : ` ${quantity(forgotten, 'message')} forgotten.`;
    yield { type: 'print', text: `On the record again.${text}` };
  },
};
