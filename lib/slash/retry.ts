import type { SlashCommand } from './common/command.js';
import { notOwnHint, notOwnLine } from './common/shown.js';

/** `/retry`: asks the last question again, or asks another model. */
export const slashRetry: SlashCommand = {
  name: 'retry',
  aliases: ['regenerate'],
  usage: '/retry [model]',
  summary: 'ask again, or ask another model',
  complete: async (typed, { models }) => (await models.names()).filter((name) => name.startsWith(typed)),
  async *run(argument, { session, ask }, signal) {
    const other = await session.retriesNotOwn();
    if (other && !(await ask.confirm(`${notOwnLine(other)} Ask it again?`, notOwnHint(other, '/retry'))))
      return yield { type: 'print', text: 'Nothing was asked.' };
    for await (const event of session.retry(argument === '' ? null : argument, signal)) {
      yield event;
      if (event.type === 'turn-end' && argument !== '')
        yield { type: 'notice', level: 'info', text: `answered by ${event.provider}/${event.model}` };
    }
  },
};
