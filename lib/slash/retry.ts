import type { SlashCommand } from './common/command.js';
import { saidElsewhere } from './common/shown.js';

/** `/retry`: asks the last question again, or asks another model. */
export const slashRetry: SlashCommand = {
  name: 'retry',
  aliases: ['regenerate'],
  usage: '/retry [model]',
  summary: 'ask again, or ask another model',
  complete: async (typed, { models }) => (await models()).filter((name) => name.startsWith(typed)),
  async *run(argument, { session, confirm }, signal) {
    const other = await session.retriesElsewhere();
    if (other && !(await confirm(`${saidElsewhere(other)} Ask it again?`, 'retry it in the chat that said it.')))
      return yield { type: 'print', text: 'Nothing was asked.' };
    for await (const event of session.retry(argument === '' ? null : argument, signal)) {
      yield event;
      if (event.type === 'turn-end' && argument !== '')
        yield { type: 'notice', level: 'info', text: `answered by ${event.provider}/${event.model}` };
    }
  },
};
