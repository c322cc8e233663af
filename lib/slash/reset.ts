import type { SlashCommand } from './command.js';

/** `/reset`: clears the conversation after asking; a copy is kept. */
export const slashReset: SlashCommand = {
  name: 'reset',
  aliases: ['clear', 'new'],
  usage: '/reset',
  summary: 'clear the conversation; a copy is kept',
  async *run(_argument, { session, confirm }) {
    const { messages } = session.history.totals;
    if (messages === 0) return yield { type: 'print', text: 'The conversation is empty.' };
    const question = `Clear the conversation of ${messages} messages? A copy is kept.`;
    if (!(await confirm(question, "'hi reset -y' clears it without asking."))) {
      return yield { type: 'print', text: 'Nothing was cleared.' };
    }
    await session.reset({ purge: false });
    yield { type: 'print', text: `Cleared ${messages} messages. 'hi reset --undo' brings them back.` };
  },
};
