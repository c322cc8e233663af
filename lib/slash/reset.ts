import { quantity } from '../chat/text.js';
import { HiError } from '../errors.js';
import { CLEARED_ELSEWHERE, KEPT_ELSEWHERE } from '../session/common/other-machines.js';
import type { SlashCommand, SlashContext, SlashEvent } from './common/command.js';

const OPTIONS = ['--undo', '--purge', '--everywhere', '-y'] as const;

/**
 * `/reset`: clears the conversation after asking. Keeps a copy unless `--purge` is given; `--undo` restores what the
 * last reset cleared; `--everywhere` clears it on all machines.
 */
export const slashReset: SlashCommand = {
  name: 'reset',
  aliases: ['clear', 'new'],
  usage: '/reset [OPTION]',
  summary: 'clear all; for options: /help reset',
  options: OPTIONS,
  complete: async (typed) => OPTIONS.filter((option) => option.startsWith(typed)),
  async *run(argument, context) {
    requireOnRecord(context);
    if (argument.startsWith('--')) requireStored(argument, context);
    if (argument === '--undo') yield* undo(context);
    else if (argument === '--purge') yield* purge(context);
    else if (argument === '--everywhere') yield* everywhere(context);
    else yield* clear(argument === '-y' ? { ...context, ask: { ...context.ask, confirm: async () => true } } : context);
  },
};

async function* clear({ session, ask, desk }: SlashContext): AsyncGenerator<SlashEvent> {
  const { messages } = session.history.totals;
  if (messages === 0) return yield { type: 'print', text: 'The conversation is empty.' };
  const [copy, restore] = session.history.isKept
    ? ['A copy is kept.', " '/reset --undo' restores them."]
    : ['No copy is kept.', ''];
  const question = `Clear the conversation of ${quantity(messages, 'message')}? ${copy}`;
  if (!(await ask.confirm(question, "'/reset -y' clears it without asking."))) {
    return yield { type: 'print', text: 'Nothing was cleared.' };
  }
  const cleared = await session.reset({ purge: false });
  const left = session.history.isKept ? desk.leftByReset() : '';
  const text = `Cleared ${quantity(cleared, 'message')}.${keptElsewhere(session)}${restore}`;
  yield { type: 'print', text: withLeft(text, left) };
}

const keptElsewhere = ({ isShared, history }: SlashContext['session']): string =>
  isShared && history.isKept ? ` ${KEPT_ELSEWHERE}` : '';

async function* everywhere({ session, ask, desk }: SlashContext): AsyncGenerator<SlashEvent> {
  const { messages } = session.history.totals;
  const question = `Clear the conversation of ${quantity(messages, 'message')} on all machines? A copy is kept on each.`;
  if (session.isShared && !(await ask.confirm(question, "'hi reset -y --everywhere' clears it without asking."))) {
    return yield { type: 'print', text: 'Nothing was cleared.' };
  }
  const cleared = await session.resetEverywhere();
  const text = `Cleared ${quantity(cleared, 'message')}. ${CLEARED_ELSEWHERE} '/reset --undo' restores them here.`;
  yield { type: 'print', text: withLeft(text, desk.leftByReset()) };
}

/** Runs on an empty conversation too: it also removes the copy of an earlier one. */
async function* purge({ session, ask, desk }: SlashContext): AsyncGenerator<SlashEvent> {
  const { messages } = session.history.totals;
  const question = `Clear the conversation of ${quantity(messages, 'message')} for good, with no copy?`;
  if (!(await ask.confirm(question, "'hi reset -y --purge' clears it without asking."))) {
    return yield { type: 'print', text: 'Nothing was cleared.' };
  }
  const count = await session.reset({ purge: true });
  const problems = session.history.takeNotices();
  for (const text of problems) yield { type: 'notice', level: 'warning', text };
  await desk.purgeCaches();
  const cleared = `Cleared ${quantity(count, 'message')}.${problems.length === 0 ? ' No copy is kept.' : ''}`;
  yield { type: 'print', text: withLeft(`${cleared}${keptElsewhere(session)}`, desk.leftByReset()) };
}

const withLeft = (cleared: string, left: string): string => (left === '' ? cleared : `${cleared}\n${left}`);

async function* undo({ session }: SlashContext): AsyncGenerator<SlashEvent> {
  await session.undoReset();
  yield { type: 'print', text: `Restored ${quantity(session.history.totals.messages, 'message')}.` };
}

/** Off the record the session works on a copy in memory. Clearing only that would look like clearing everything. */
function requireOnRecord({ session }: SlashContext): void {
  if (session.history.keeping !== 'off-record') return;
  throw new HiError('usage', 'Cannot reset off the record.', { hint: 'Type /on first.' });
}

function requireStored(option: string, { session }: SlashContext): void {
  if (session.history.isKept) return;
  throw new HiError('usage', `Cannot run /reset ${option} with --ephemeral, which stores nothing.`, {
    hint: `Quit the chat and run: hi reset ${option}`,
  });
}
