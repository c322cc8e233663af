import type { SlashCommand } from './command.js';

/** `/edit`: opens what was said last in the editor; what is saved stands in the line. */
export const slashEdit: SlashCommand = {
  name: 'edit',
  aliases: ['editor'],
  usage: '/edit',
  summary: 'write in your editor, from your last words',
  async *run(_argument, context) {
    const text = await context.edit(context.session.lastInput() ?? '');
    if (text !== null) yield { type: 'prefill', text };
  },
};
