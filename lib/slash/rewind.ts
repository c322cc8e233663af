import { HiError } from '../errors.js';
import { type PastTurn, pastTurns } from '../session/past-turns.js';
import type { SlashCommand, SlashContext } from './common/command.js';
import { beginningOf, noneWhenCancelled, whichMessage } from './common/shown.js';

/** How many turns are listed. */
const LISTED = 10;

const USAGE = '/rewind [n|#ID]';

/** `/rewind`: goes back to before one of the last turns and puts its message into the input line. */
export const slashRewind: SlashCommand = {
  name: 'rewind',
  usage: USAGE,
  summary: 'go back to before an earlier turn (Esc Esc)',
  async *run(argument, context) {
    const { session, ask } = context;
    await session.history.refresh();
    const turns = pastTurns(session.history);
    if (turns.length === 0) throw new HiError('usage', 'There are no turns to rewind.');
    if (argument === '' && ask.choose === null) return yield { type: 'print', text: listOf(turns) };
    const turn = argument === '' ? await chosen(turns, context) : named(turns, argument);
    if (turn === null) return yield { type: 'print', text: 'Nothing was rewound.' };
    const text = await session.rewind(turn);
    yield { type: 'print', text: `Back to before #${turn}. To reverse that, type: /redo` };
    yield { type: 'prefill', text };
  },
};

async function chosen(turns: readonly PastTurn[], { ask, now }: SlashContext): Promise<number | null> {
  const choices = turns.slice(0, LISTED).map((turn) => ({ value: String(turn.id), name: rowOf(turn, now()) }));
  const id = await ask.choose?.('Go back to before which message?', choices).catch(noneWhenCancelled);
  return id === undefined || id === null ? null : Number(id);
}

function named(turns: readonly PastTurn[], argument: string): number {
  const which = whichMessage(argument, USAGE);
  if ('id' in which) return which.id;
  const found = turns[which.place - 1];
  if (found !== undefined) return found.id;
  throw new HiError('usage', `There is no turn ${which.place}: ${turns.length} in view.`, {
    hint: 'Turn 1 is the last one.',
  });
}

const listOf = (turns: readonly PastTurn[]): string =>
  turns
    .slice(0, LISTED)
    .map((turn, index) => `${String(index + 1).padStart(2)}  ${rowOf(turn, null)}`)
    .reverse()
    .join('\n');

/** Shows the time of a turn of today, and the date of any other. */
function rowOf({ id, at, text }: PastTurn, now: Date | null): string {
  const when = new Date(at);
  const day = when.toLocaleDateString('sv');
  const time = when.toLocaleTimeString('sv', { hour: '2-digit', minute: '2-digit' });
  return `#${id} · ${day === now?.toLocaleDateString('sv') ? time : `${day} ${time}`} · ${beginningOf(text)}`;
}
