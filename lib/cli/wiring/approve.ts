import { firstCharacters, lastCharacters } from '../../chat/text.js';
import { displayWidth } from '../../repl/drawing/line-layout.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { Approval, ApprovalQuestion } from '../../tools/common/tool.js';
import type { ApprovalChoice } from '../approval/approval-prompt.js';
import { previewRows } from '../approval/preview-rows.js';
import { type ApprovalStreams, heightOf, showAndAsk, sizeOf } from '../approval/show-and-ask.js';
import { hasColour } from '../base/streams.js';
import type { World } from '../base/world.js';
import { askQuestion } from '../terminal/ask-question.js';
import { input } from '../terminal/inquirer.js';
import { wrappedQuestion } from '../terminal/wrapped-question.js';

type Answer = 'once' | 'always' | 'no' | 'say';

/**
 * Shows what a call would do, in full or its head and tail, and asks: once, always, no, or no with a reason. If the preview does not fit, Enter does not
 * approve the call until the user has viewed all of it. Rejects as an interruption if the user cancels the question.
 */
export async function askApproval(
  question: ApprovalQuestion,
  streams: ApprovalStreams,
  env: World['env'],
): Promise<Approval> {
  const { columns, rows } = sizeOf(streams.output);
  const message = messageOf(question, columns, rows);
  const answer = await showAndAsk<Answer>(
    {
      message,
      rows: rowsToShow(question, message, columns, hasColour(streams.output, env)),
      choices: choicesOf(question),
      first: question.isOutside ? 'no' : 'once',
      unseen: 'no',
    },
    streams,
  );
  if (answer !== 'say') return { answer };
  return {
    answer: 'no',
    reason: await askQuestion((context) => input({ message: 'Tell the model:' }, context), streams),
  };
}

/** The rows to show above the question. None if the question itself contains the whole path. */
function rowsToShow(
  { preview }: ApprovalQuestion,
  message: string,
  columns: number,
  colour: boolean,
): readonly string[] {
  if (preview.kind === 'path' && message.replaceAll('\n ', '').includes(visibleLine(preview.text))) return [];
  return previewRows(preview, columns, colour);
}

function choicesOf({ rule }: ApprovalQuestion): readonly ApprovalChoice<Answer>[] {
  const always = {
    value: 'always',
    name: `yes, always: ${visibleLine(rule ?? '')}`,
    key: 'a',
    word: 'always',
  } as const;
  return [
    { value: 'once', name: 'yes, once', key: 'y', word: 'yes' },
    ...(rule === null ? [] : [always]),
    { value: 'no', name: 'no', key: 'n', word: 'no' },
    { value: 'say', name: 'no, and say why', key: 's', word: 'say why' },
  ];
}

/** The minimum width of the reason, in columns. */
const SHORTEST_REASON = 20;

/** The question, with the name of the file, in at most three rows, or two in a low terminal. */
function messageOf({ preview, reason, call }: ApprovalQuestion, columns: number, rows: number): string {
  const asked = `${askedOf(preview, call.args.path, columns)} (${visibleLine(call.name)}: `;
  const why = visibleLine(reason);
  const mostRows = rows < 20 ? 2 : 3;
  for (let room = mostRows * columns - displayWidth(asked) - 3; ; room -= 1) {
    const message = wrappedQuestion(`${asked}${fitting(why, Math.max(SHORTEST_REASON, room))})`, columns);
    if (room <= SHORTEST_REASON || heightOf(message.split('\n'), columns) <= mostRows) return message;
  }
}

/** As much of the start of a text as fits in the columns. */
function fitting(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let shown = firstCharacters(text, columns - 1);
  // A character takes two columns at most.
  while (displayWidth(shown) >= columns)
    shown = firstCharacters(shown, shown.length - Math.max(1, Math.floor((displayWidth(shown) - columns) / 2)));
  return `${shown}…`;
}

function askedOf({ kind, shell }: ApprovalQuestion['preview'], path: unknown, columns: number): string {
  if (kind === 'command') return shell === undefined ? 'Run this command?' : `Run this command in ${shell}?`;
  if (kind === 'call') return 'Call this tool?';
  if (kind === 'memory') return 'Always keep this in mind?';
  const asked = kind === 'path' ? 'Open' : 'Make this change to';
  return `${asked} ${typeof path === 'string' ? endOf(visibleLine(path), columns) : 'this'}?`;
}

/** The end of a path identifies the file best. */
function endOf(path: string, columns: number): string {
  return path.length <= columns ? path : `…${lastCharacters(path, columns - 1)}`;
}
