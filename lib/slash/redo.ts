import { quantity } from '../chat/text.js';
import { redo } from '../session/past-turns.js';
import type { SlashCommand } from './common/command.js';

/** `/redo`: reverses the last undo or rewind. */
export const slashRedo: SlashCommand = {
  name: 'redo',
  usage: '/redo',
  summary: 'reverse an undo or rewind',
  async *run(_argument, { session }) {
    const turns = await redo(session.history);
    yield { type: 'print', text: `Redone: ${quantity(turns.length, 'turn')}.` };
  },
};
