import type { SlashCommand } from './command.js';

/** `/undo`: takes the last turn out of the view and puts its text back into the line. */
export const slashUndo: SlashCommand = {
  name: 'undo',
  usage: '/undo',
  summary: 'take the last turn back and edit what you said',
  async *run(_argument, { session }) {
    const text = await session.undo();
    yield { type: 'print', text: 'The last turn is taken back.' };
    yield { type: 'prefill', text };
  },
};
