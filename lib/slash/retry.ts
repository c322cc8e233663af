import type { SlashCommand } from './common/command.js';
import { notOwnHint, notOwnLine, turnName } from './common/shown.js';

/** `/retry`: asks the last question again, or asks another model. */
export const slashRetry: SlashCommand = {
  name: 'retry',
  aliases: ['regenerate'],
  usage: '/retry [model]',
  summary: 'ask again, or ask another model',
  complete: async (typed, { models }) => (await models.names()).filter((name) => name.startsWith(typed)),
  async *run(argument, { session, ask }, signal) {
    const last = await session.retried();
    if (last?.notOwn && !(await ask.confirm(`${notOwnLine(last)} Ask it again?`, notOwnHint(last, '/retry'))))
      return yield { type: 'print', text: 'Nothing was asked.' };
    if (last?.notOwn === null) yield { type: 'notice', level: 'info', text: `Asking again: ${turnName(last)}` };
    for await (const event of session.retry(argument === '' ? null : argument, signal)) {
      yield event;
      if (event.type === 'turn-end' && argument !== '')
        yield { type: 'notice', level: 'info', text: `answered by ${event.provider}/${event.model}` };
    }
  },
};
