import { quantity } from '../chat/text.js';
import { shortCount } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { SlashCommand } from './common/command.js';

/** `/all`: asks with everything that fits into the window, after its price is known. */
export const slashAll: SlashCommand = {
  name: 'all',
  usage: '/all TEXT',
  summary: 'ask with everything that fits, price first',
  takesWords: true,
  async *run(argument, { session, prices, ask }, signal) {
    if (argument === '') throw new HiError('usage', 'No question given.', { hint: 'Type: /all TEXT' });
    const input = { text: argument, texts: [], attachments: [] };
    const { messages, left_out, tokens } = await session.whole(input, signal);
    const { line, isDear } = await prices.question(tokens);
    const missing = left_out === 0 ? '' : `, ${shortCount(left_out)} do not fit`;
    const text = `${quantity(messages, 'message')}${missing} · ${line}`;
    if (!isDear) yield { type: 'notice', level: 'info', text };
    else if (!(await ask.confirm(`Ask with ${text}?`, "'hi ask --all -y' asks once."))) {
      yield { type: 'prefill', text: `/all ${argument}` };
      return;
    }
    yield* session.send(input, signal, { whole: true });
  },
};
