import { isMessage } from '../chat/entry.js';
import { undoneTurns } from '../chat/entry-list.js';
import { type CodeBlock, codeBlocks } from '../chat/marked-text.js';
import { textOf } from '../chat/message.js';
import { quantity } from '../chat/text.js';
import { HiError } from '../errors.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './common/command.js';

/** `/copy`: copies the last answer, the n-th last, or a code block of the last answer. */
export const slashCopy: SlashCommand = {
  name: 'copy',
  usage: '/copy [n|code [n]]',
  summary: 'copy the last answer, the n-th last, or a code block',
  complete: async (typed, { session }) => {
    const blocks = codeBlocks(answers(session).at(-1) ?? '');
    const numbered = blocks.length > 1 ? blocks.map((block, index) => `code ${index + 1} · ${firstLine(block)}`) : [];
    return ['code', ...numbered].filter((word) => word.startsWith(typed));
  },
  async *run(argument, { session, desk }) {
    const [, code, number] = /^(code)(?:\s+(\S+))?(?:\s+·.*)?$/.exec(argument) ?? [];
    const text = code === undefined ? nthLastAnswer(session, argument || '1') : codeIn(session, number);
    yield { type: 'print', text: `${await desk.copy(text)}: ${quantity(text.length, 'character')}.` };
  },
};

/** The answer of each turn that was not undone, oldest first: the last text of the model in that turn. */
function answers(session: Session): readonly string[] {
  const { entries } = session.history;
  const undone = undoneTurns(entries);
  const byTurn = new Map<number, string>();
  for (const { role, turn, content } of entries.filter(isMessage)) {
    const text = role === 'assistant' && !undone.has(turn) ? textOf(content) : '';
    if (text.trim() !== '') byTurn.set(turn, text);
  }
  return [...byTurn.values()];
}

function nthLastAnswer(session: Session, typed: string): string {
  const nth = Number(typed);
  const all = answers(session);
  const found = Number.isSafeInteger(nth) && nth > 0 ? all.at(-nth) : undefined;
  if (found !== undefined) return found;
  const hint = all.length === 0 ? 'There is no answer yet.' : 'Type: /copy, /copy 2, /copy code or /copy code 2';
  throw new HiError('usage', `No answer '${typed}' to copy.`, { hint });
}

/** The last code block of the last answer, or the n-th. */
function codeIn(session: Session, typed: string | undefined): string {
  const blocks = codeBlocks(nthLastAnswer(session, '1'));
  if (blocks.length === 0)
    throw new HiError('usage', 'The last answer has no code block.', { hint: 'To copy all of it, type: /copy' });
  const found = typed === undefined ? blocks.at(-1) : blocks[Number(typed) - 1];
  if (found !== undefined) return found.code;
  const list = blocks.map((block, index) => `/copy code ${index + 1}   ${firstLine(block)}`);
  throw new HiError('usage', `The last answer has no code block '${typed}'.`, {
    hint: `It has ${quantity(blocks.length, 'block')}:\n${list.join('\n')}`,
  });
}

/** How many characters of a block's first line are listed. */
const SHOWN = 40;

function firstLine({ code, info }: CodeBlock): string {
  const line = code.trimStart().split('\n', 1)[0] ?? '';
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line || info;
}
