import { neutralise } from '../screen/sanitize.js';
import type { Approval, ApprovalQuestion, Approve } from '../tools/tool.js';
import type { World } from './world.js';

/** Where a question is asked. */
interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

const VERBS = { command: 'Run this command?', path: 'Open this path?', diff: 'Make this change?' } as const;

/** Asks on the terminal before a tool runs (SPEC §7); null where there is no terminal to ask on. */
export function approver(world: World): Approve | null {
  if (!world.stderr.isTTY || world.stdinIs !== 'terminal') return null;
  return (question, signal) => askAbout(question, { input: world.stdin, output: world.stderr, signal });
}

/** Shows what a call would do and asks: once, always, no, no with a reason. Rejects when the user leaves the question. */
export async function askAbout({ preview, reason, rule, call }: ApprovalQuestion, streams: Streams): Promise<Approval> {
  const { select, input } = await import('./inquirer.js');
  streams.output.write(`${unmasked(preview.text).trimEnd()}
`);
  const answer = await select<'once' | 'always' | 'no' | 'say'>(
    {
      message: `${VERBS[preview.kind]} (${call.name}: ${neutralise(reason)})`,
      choices: [
        { name: 'yes, once', value: 'once' },
        ...(rule === null ? [] : [{ name: `yes, always: ${unmasked(rule)}`, value: 'always' as const }]),
        { name: 'no', value: 'no' },
        { name: 'no, and say why', value: 'say' },
      ],
      // The choice that is marked must be seen in a low terminal too.
      pageSize: Math.max(1, rowsOf(streams.output) - 8),
    },
    // A question that was not answered leaves no menu in the transcript.
    {
      ...streams,
      get clearPromptOnDone() {
        return streams.signal.aborted;
      },
    },
  );
  if (answer !== 'say') return { answer };
  return { answer: 'no', reason: await input({ message: 'Tell the model:' }, streams) };
}

const rowsOf = (output: NodeJS.WritableStream & { readonly rows?: number }): number => output.rows ?? 24;

/** Characters that are not seen but change in which order others are seen, so that a command could look like another. */
const MASKS = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

function unmasked(text: string): string {
  return neutralise(text).replace(
    MASKS,
    (mask) => `<U+${mask.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}>`,
  );
}
