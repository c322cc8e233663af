import { quantity } from '../chat/text/quantity.js';
import type { SlashCommand } from './common/command.js';

/** `/uncompact`: takes the last compaction back. */
export const slashUncompact: SlashCommand = {
  name: 'uncompact',
  usage: '/uncompact',
  summary: 'take the last compaction back',
  async *run(_argument, { session }, signal) {
    const { messages, tokens } = await session.uncompact(signal);
    yield { type: 'print', text: `Taken back: ${quantity(messages, 'message')} in view, ${tokens} tokens.` };
  },
};
