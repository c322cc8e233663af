import { HiError, isAbort } from '../errors.js';
import type { Reply } from '../session/several-answers.js';
import type { SlashCommand } from './common/command.js';

/** `/ask`: asks several models the same, and keeps one answer. */
export const slashAsk: SlashCommand = {
  name: 'ask',
  usage: '/ask A B… -- TEXT',
  summary: 'ask several models at once, and keep one of the answers',
  isOnCommandLine: true,
  takesWords: true,
  complete: async (typed, { models }) =>
    [...models.serverNames, ...(await models.names())].filter((name) => name.startsWith(typed)),
  async *run(argument, { session, ask, prices }, signal) {
    const end = argument.indexOf(' -- ');
    const text = argument.slice(end + 4);
    const names = [...new Set(argument.slice(0, Math.max(end, 0)).split(/\s+/))].filter((name) => name !== '');
    if (names.length < 2 || text.trim() === '')
      throw new HiError('usage', 'Not two models and a question.', { hint: 'Type: /ask MODEL MODEL -- TEXT' });
    const replies: Reply[] = [];
    yield { type: 'waiting', what: names.join(', ') };
    try {
      for await (const reply of session.askSeveral(names, text, signal)) {
        replies.push(reply);
        yield { type: 'notice', level: 'info', text: `── ${await prices.reply(reply)}` };
        if (reply.report !== null) yield { type: 'print', text: reply.report.text };
        yield { type: 'waiting', what: 'the other answers' };
      }
    } catch (thrown) {
      // What was answered before the others were interrupted stays.
      if (!isAbort(thrown) || replies.every(({ report }) => report === null)) throw thrown;
    }
    const answers = replies.filter(({ report }) => report !== null);
    const [first] = answers;
    if (first === undefined) throw replies[0]?.failure ?? new HiError('malformed', 'No model answered.');
    const choices = answers.map(({ name }) => ({ value: name, name }));
    const chosen =
      answers.length === 1 || ask.choose === null || signal.aborted
        ? first.name
        : await ask.choose('Which answer is kept?', choices);
    const kept = answers.find(({ name }) => name === chosen) ?? first;
    await session.keepReplies(
      text,
      kept,
      answers.filter((one) => one !== kept),
    );
    yield { type: 'print', text: `Kept: ${kept.name}.${answers.length > 1 ? ' The others are in /history.' : ''}` };
  },
};
