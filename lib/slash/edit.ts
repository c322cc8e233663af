import type { SlashCommand } from './common/command.js';

/** `/edit`: opens the last message in the editor and puts the saved text into the input line. */
export const slashEdit: SlashCommand = {
  name: 'edit',
  aliases: ['editor'],
  usage: '/edit',
  summary: 'edit your last message in your editor',
  async *run(_argument, context) {
    const text = await context.desk.edit((await context.session.lastInput()) ?? '');
    if (text !== null) yield { type: 'prefill', text };
  },
};
