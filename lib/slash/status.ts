import { estimateTokens } from '../chat/tokens.js';
import { shortCount } from '../chat/transcript.js';
import { statusText } from '../session/session-status.js';
import type { SlashCommand } from './common/command.js';

/** `/status`: shows how long the conversation is, how full the window is, and what this chat has used. */
export const slashStatus: SlashCommand = {
  name: 'status',
  aliases: ['context'],
  usage: '/status',
  summary: 'show length, window use and cost',
  isOnCommandLine: true,
  async *run(_argument, { session, spending, instructions }, signal) {
    const { provider, model } = session.target;
    const text = statusText(await session.status(signal), `${provider}/${model}`);
    const files = instructions().map(
      (file) => `instructions ${file.name} (${shortCount(estimateTokens(file.text.length))} tokens)`,
    );
    yield { type: 'print', text: [text, ...files, await spending()].join('\n') };
  },
};
