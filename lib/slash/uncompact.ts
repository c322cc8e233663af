import { quantity } from '../chat/text.js';
import type { SlashCommand } from './common/command.js';

/** `/uncompact`: undoes the last compaction. */
export const slashUncompact: SlashCommand = {
  name: 'uncompact',
  usage: '/uncompact',
  summary: 'undo the last compaction',
  async *run(_argument, { session }, signal) {
    const { messages, tokens } = await session.uncompact(signal);
    yield { type: 'print', text: `Undone: ${quantity(messages, 'message')} in view, ${tokens} tokens.` };
  },
};
