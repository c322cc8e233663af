import { quantity } from '../../chat/text.js';
import { shortCount } from '../../chat/transcript.js';
import { HiError } from '../../errors.js';
import type { UserInput } from '../../session/common/deps.js';
import type { Session } from '../../session/session.js';
import { confirm } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import type { World } from '../base/world.js';
import { costLine, isDear, questionCost } from '../wiring/next-question.js';

/**
 * Says what a question with everything costs before it is asked. Resolves to whether the user agrees; a cheap one needs no answer. Without a terminal to ask on and
 * without `-y`, throws a `HiError` of code `usage`.
 */
export async function agreeToAll(
  world: World,
  session: Session,
  input: UserInput,
  { yes, quiet }: { readonly yes?: boolean; readonly quiet?: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const { messages, left_out, tokens } = await session.whole(input, signal);
  const cost = questionCost(session.target, tokens, world.now());
  const missing = left_out === 0 ? '' : `, ${shortCount(left_out)} do not fit`;
  const line = `${quantity(messages, 'message')}${missing} · ${costLine(cost)}`;
  if (!quiet) world.stderr.write(`${line}\n`);
  if (yes || !isDear(cost, session.target)) return true;
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY)
    throw new HiError('usage', `Not asked with everything: ${line}.`, {
      hint: 'To agree to that without a terminal, add -y.',
    });
  const streams = { input: world.stdin, output: world.stderr };
  const message = 'Ask with everything?';
  return await askQuestion((asking) => confirm({ message, default: false }, asking), streams).catch(() => false);
}
