import { isMessage, textOf } from '../chat/message.js';
import { HiError } from '../errors.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './command.js';

/** `/copy`: copies the last answer, the n-th last, or the code blocks of the last. */
export const slashCopy: SlashCommand = {
  name: 'copy',
  usage: '/copy [n|code]',
  summary: "copy the last answer, the n-th last, or the last one's code",
  complete: async (typed) => ['code'].filter((word) => word.startsWith(typed)),
  async *run(argument, { session, copy }) {
    const text = argument === 'code' ? codeIn(nthLastAnswer(session, '1')) : nthLastAnswer(session, argument || '1');
    const method = await copy(text);
    yield { type: 'print', text: `Copied ${text.length} characters (${method}).` };
  },
};

function nthLastAnswer(session: Session, typed: string): string {
  const nth = Number(typed);
  const answers = session.history.entries
    .filter(isMessage)
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => textOf(content));
  const found = Number.isSafeInteger(nth) && nth > 0 ? answers.filter((text) => text !== '').at(-nth) : undefined;
  if (found !== undefined) return found;
  throw new HiError('usage', `No answer '${typed}' to copy.`, { hint: 'Type: /copy, /copy 2 or /copy code' });
}

/** The contents of the fenced blocks of an answer, one after another. */
function codeIn(text: string): string {
  const blocks: string[] = [];
  let open: { readonly marks: string; readonly lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const [marks] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
    if (open === null) open = marks === undefined ? null : { marks, lines: [] };
    else if (line.startsWith(open.marks)) {
      blocks.push(open.lines.map((one) => `${one}\n`).join(''));
      open = null;
    } else open.lines.push(line);
  }
  if (blocks.length > 0) return blocks.join('\n').trimEnd();
  throw new HiError('usage', 'The last answer has no code block.', { hint: 'To copy all of it, type: /copy' });
}
