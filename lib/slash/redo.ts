import { quantity } from '../chat/text.js';
import { redo, undoneLast } from '../session/past-turns.js';
import type { SlashCommand } from './common/command.js';
import { notOwnHint, turnName } from './common/shown.js';

/** `/redo`: reverses the last undo or rewind. */
export const slashRedo: SlashCommand = {
  name: 'redo',
  usage: '/redo',
  summary: 'reverse an undo or rewind',
  async *run(_argument, { session, ask }) {
    const undone = [...(await undoneLast(session.history))].sort((one, other) => one.id - other.id);
    const foreign = undone.find(({ id }) => !session.knows(id));
    if (foreign !== undefined) {
      const what = `What was undone last was said in another window or program: ${turnName(foreign)}. Redo it?`;
      if (!(await ask.confirm(what, notOwnHint({ notOwn: 'elsewhere' }, '/redo'))))
        return yield { type: 'print', text: 'Nothing was redone.' };
    }
    await redo(session.history);
    const many = undone.length === 1 ? '' : `${quantity(undone.length, 'turn')}, from `;
    yield { type: 'print', text: `Redone: ${many}${undone.slice(0, 1).map(turnName)}` };
  },
};
