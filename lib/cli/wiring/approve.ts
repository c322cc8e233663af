import { neutralise } from '../../screen/sanitize.js';
import type { Approval, ApprovalQuestion } from '../../tools/tool.js';
import { askQuestion, type PromptStreams } from '../base/ask-question.js';
import { isDumb } from '../base/streams.js';
import type { World } from '../base/world.js';

const QUESTIONS = { command: 'Run this command?', path: 'Open this path?', diff: 'Make this change?' } as const;

/** Whether the user can be asked before a tool runs (SPEC §7): on a terminal that can draw a menu. */
export function canApprove(world: World): boolean {
  return world.stderr.isTTY === true && world.stdinIs === 'terminal' && !isDumb(world.env);
}

/** Shows what a call would do and asks: once, always, no, no with a reason. Rejects as an interruption when the user cancels the question. */
export async function askApproval(
  { preview, reason, rule, call }: ApprovalQuestion,
  streams: PromptStreams,
): Promise<Approval> {
  const { select, input } = await import('../base/inquirer.js');
  streams.output.write(`${showInvisible(preview.text).trimEnd()}\n`);
  const question = {
    message: `${QUESTIONS[preview.kind]} (${call.name}: ${neutralise(reason)})`,
    choices: [
      { name: 'yes, once', value: 'once' as const },
      ...(rule === null ? [] : [{ name: `yes, always: ${showInvisible(rule)}`, value: 'always' as const }]),
      { name: 'no', value: 'no' as const },
      { name: 'no, and say why', value: 'say' as const },
    ],
    // The marked choice must be visible in a terminal of few rows too.
    pageSize: Math.max(1, rowsOf(streams.output) - 8),
  };
  const answer = await askQuestion((context) => select<'once' | 'always' | 'no' | 'say'>(question, context), streams);
  if (answer !== 'say') return { answer };
  return {
    answer: 'no',
    reason: await askQuestion((context) => input({ message: 'Tell the model:' }, context), streams),
  };
}

const rowsOf = (output: NodeJS.WritableStream & { readonly rows?: number }): number => output.rows ?? 24;

/** Invisible characters that change the order or the look of others, so that one command could look like another. */
const INVISIBLE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

function showInvisible(text: string): string {
  return neutralise(text).replace(
    INVISIBLE,
    (character) => `<U+${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}>`,
  );
}
