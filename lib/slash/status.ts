import { statusText } from '../session/session-status.js';
import type { SlashCommand } from './common/command.js';
import { instructionLines } from './context.js';

/** `/status`: shows how long the conversation is, how full the window is, and what this chat has used. */
export const slashStatus: SlashCommand = {
  name: 'status',
  usage: '/status',
  summary: 'show length, window use and cost',
  isOnCommandLine: true,
  async *run(_argument, { session, prices, instructions }, signal) {
    const { provider, server = provider, model } = session.target;
    const text = statusText(
      await session.status(signal),
      `${server}/${model}`,
      session.target.window_is_known === false ? 'assumed' : 'known',
    );
    yield { type: 'print', text: [text, ...instructionLines(instructions()), await prices.spending()].join('\n') };
  },
};
