import type { SlashCommand } from './common/command.js';

/** `/undo`: takes the last turn out of the view and puts its message back into the input line. */
export const slashUndo: SlashCommand = {
  name: 'undo',
  usage: '/undo',
  summary: 'undo the last turn and edit its message',
  async *run(_argument, { session }) {
    const text = await session.undo();
    yield { type: 'print', text: 'The last turn is undone.' };
    yield { type: 'prefill', text };
  },
};
