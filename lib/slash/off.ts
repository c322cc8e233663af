import type { SlashCommand } from './common/command.js';

/** `/off`: from now on, nothing that is said is stored. */
export const slashOff: SlashCommand = {
  name: 'off',
  usage: '/off',
  summary: 'off the record: keep nothing until /on',
  async *run(_argument, { session }) {
    const { keeping } = session.history;
    if (keeping === 'off-record')
      return yield { type: 'print', text: 'The chat is already off the record. To go back on it, type: /on' };
    if (keeping === 'ephemeral')
      return yield { type: 'print', text: 'Nothing in this chat is kept: it runs with --ephemeral.' };
    await session.goOffRecord();
    const text = 'Off the record: nothing said until /on is kept. The model still sees what was said before.';
    yield { type: 'print', text };
  },
};
