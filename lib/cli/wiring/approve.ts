import { neutralise } from '../../screen/sanitize.js';
import type { Approval, ApprovalQuestion } from '../../tools/tool.js';
import { askQuestion, type PromptStreams } from '../base/ask-question.js';
import { isDumb } from '../base/streams.js';
import type { World } from '../base/world.js';

const VERBS = { command: 'Run this command?', path: 'Open this path?', diff: 'Make this change?' } as const;

/** Whether there is a terminal to ask on before a tool runs (SPEC §7), one on which a menu can be drawn. */
export function canApprove(world: World): boolean {
  return world.stderr.isTTY === true && world.stdinIs === 'terminal' && !isDumb(world.env);
}

/** Shows what a call would do and asks: once, always, no, no with a reason. Rejects as an interruption when the user leaves the question. */
export async function askApproval(
  { preview, reason, rule, call }: ApprovalQuestion,
  streams: PromptStreams,
): Promise<Approval> {
  const { select, input } = await import('../base/inquirer.js');
  streams.output.write(`${showInvisible(preview.text).trimEnd()}
`);
  const question = {
    message: `${VERBS[preview.kind]} (${call.name}: ${neutralise(reason)})`,
    choices: [
      { name: 'yes, once', value: 'once' as const },
      ...(rule === null ? [] : [{ name: `yes, always: ${showInvisible(rule)}`, value: 'always' as const }]),
      { name: 'no', value: 'no' as const },
      { name: 'no, and say why', value: 'say' as const },
    ],
    // The choice that is marked must be seen in a low terminal too.
    pageSize: Math.max(1, rowsOf(streams.output) - 8),
  };
  const answer = await askQuestion((asking) => select<'once' | 'always' | 'no' | 'say'>(question, asking), streams);
  if (answer !== 'say') return { answer };
  return {
    answer: 'no',
    reason: await askQuestion((asking) => input({ message: 'Tell the model:' }, asking), streams),
  };
}

const rowsOf = (output: NodeJS.WritableStream & { readonly rows?: number }): number => output.rows ?? 24;

/** Characters that are not seen but change in which order others are seen, so that a command could look like another. */
const INVISIBLE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

function showInvisible(text: string): string {
  return neutralise(text).replace(
    INVISIBLE,
    (mask) => `<U+${mask.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}>`,
  );
}
