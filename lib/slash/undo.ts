import type { SlashCommand } from './common/command.js';
import { notOwnHint, notOwnLine, turnName } from './common/shown.js';

/** `/undo`: takes the last turn out of the view and puts its message back into the input line. */
export const slashUndo: SlashCommand = {
  name: 'undo',
  usage: '/undo',
  summary: 'undo the last turn and edit its message',
  async *run(_argument, { session, ask }) {
    const last = await session.lastTurn();
    if (last?.notOwn && !(await ask.confirm(`${notOwnLine(last)} Undo it?`, notOwnHint(last, '/undo'))))
      return yield { type: 'print', text: 'Nothing was undone.' };
    const { id, text, compacted } = await session.undo();
    yield { type: 'print', text: `Undone: ${turnName({ id, text })}` };
    if (compacted)
      yield { type: 'print', text: 'The conversation was compacted meanwhile. To take that back too: /uncompact' };
    yield { type: 'prefill', text };
  },
};
