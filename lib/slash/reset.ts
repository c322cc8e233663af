import { HiError } from '../errors.js';
import type { SlashCommand, SlashContext, SlashEvent } from './command.js';

const OPTIONS = ['--undo', '--purge'] as const;

/** `/reset`: clears the conversation after asking, with no copy kept where it is purged; or brings back what the last one cleared. */
export const slashReset: SlashCommand = {
  name: 'reset',
  aliases: ['clear', 'new'],
  usage: '/reset [OPTION]',
  summary: 'clear all, --undo that, or --purge copies',
  options: OPTIONS,
  complete: async (typed) => OPTIONS.filter((option) => option.startsWith(typed)),
  async *run(argument, context) {
    if (argument !== '') requireKept(argument, context);
    if (argument === '--undo') yield* undo(context);
    else if (argument === '--purge') yield* purge(context);
    else yield* clear(context);
  },
};

async function* clear({ session, confirm }: SlashContext): AsyncGenerator<SlashEvent> {
  const { messages } = session.history.totals;
  if (messages === 0) return yield { type: 'print', text: 'The conversation is empty.' };
  const kept = session.history.isEphemeral
    ? ['No copy is kept.', '']
    : ['A copy is kept.', " '/reset --undo' brings them back."];
  const question = `Clear the conversation of ${counted(messages)}? ${kept[0]}`;
  if (!(await confirm(question, "'hi reset -y' clears it without asking."))) {
    return yield { type: 'print', text: 'Nothing was cleared.' };
  }
  await session.reset({ purge: false });
  yield { type: 'print', text: `Cleared ${counted(messages)}.${kept[1]}` };
}

/** Also where the conversation is empty: the copy of an earlier one goes too. */
async function* purge({ session, confirm, purgeCaches }: SlashContext): AsyncGenerator<SlashEvent> {
  const { messages } = session.history.totals;
  const question = `Clear the conversation of ${counted(messages)} for good, with no copy?`;
  if (!(await confirm(question, "'hi reset -y --purge' clears it without asking."))) {
    return yield { type: 'print', text: 'Nothing was cleared.' };
  }
  await session.reset({ purge: true });
  const left = session.history.takeNotices();
  for (const text of left) yield { type: 'notice', level: 'warning', text };
  await purgeCaches();
  yield { type: 'print', text: `Cleared ${counted(messages)}.${left.length === 0 ? ' No copy is kept.' : ''}` };
}

async function* undo({ session }: SlashContext): AsyncGenerator<SlashEvent> {
  await session.undoReset();
  yield { type: 'print', text: `The conversation is back: ${counted(session.history.totals.messages)}.` };
}

function requireKept(option: string, { session }: SlashContext): void {
  if (!session.history.isEphemeral) return;
  throw new HiError('usage', `/reset ${option} does not work with --ephemeral, which keeps nothing.`, {
    hint: `Leave the chat and run: hi reset ${option}`,
  });
}

const counted = (messages: number): string => `${messages} message${messages === 1 ? '' : 's'}`;
