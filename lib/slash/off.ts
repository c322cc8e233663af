import type { SlashCommand } from './common/command.js';

/** `/off`: what is said from now on is kept nowhere. */
export const slashOff: SlashCommand = {
  name: 'off',
  usage: '/off',
  summary: 'off the record: keep nothing until /on',
  async *run(_argument, { session }) {
    const { history } = session;
    if (history.isOffRecord)
      return yield { type: 'print', text: 'The chat is already off the record. To end that, type: /on' };
    if (history.isEphemeral)
      return yield { type: 'print', text: 'Nothing of this chat is kept: it runs with --ephemeral.' };
    await session.goOffRecord();
    const text =
      'Off the record: nothing is kept of what is said until /on. The model still sees what was said before.';
    yield { type: 'print', text };
  },
};
