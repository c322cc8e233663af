import type { SlashCommand } from './common/command.js';

const OPTIONS = ['--last', '--since'] as const;

/**
 * `/forget`: shows everything that contains a text, or came with some messages, and removes it for good after asking.
 */
export const slashForget: SlashCommand = {
  name: 'forget',
  usage: '/forget TEXT|#ID',
  summary: 'remove something for good; also --last, --since TIME',
  takesWords: true,
  options: OPTIONS,
  complete: async (typed) => OPTIONS.filter((option) => option.startsWith(typed)),
  async *run(argument, { session, ask, desk }) {
    session.history.requireKept('hi forget');
    const found = await desk.forgetting(argument);
    if (found === null) return yield { type: 'print', text: 'There is nothing to forget.' };
    for (const text of found.shown) yield { type: 'print', text };
    if (
      !(await ask.confirm('Forget all of this for good?', "'hi forget -y' with the same words forgets without asking."))
    ) {
      return yield { type: 'print', text: 'Nothing was forgotten.' };
    }
    session.forgetUnsent();
    for (const text of await found.forget()) yield { type: 'print', text };
  },
};
