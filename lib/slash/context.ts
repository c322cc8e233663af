import { estimateTokens } from '../chat/request.js';
import { shortCount } from '../chat/transcript.js';
import { viewText } from '../session/session-status.js';
import type { SlashCommand, SlashContext } from './common/command.js';

/** `/context`: shows what the next question consists of, and what it costs. */
export const slashContext: SlashCommand = {
  name: 'context',
  usage: '/context',
  summary: 'show what is sent, and what the next question costs',
  async *run(_argument, { session, prices, instructions }, signal) {
    const view = await session.nextView(signal);
    const { line } = await prices.question(view.tokens);
    yield {
      type: 'print',
      text: [viewText(view), `next         ${line}`, ...instructionLines(instructions())].join('\n'),
    };
  },
};

/** The project's instruction files and their sizes, one line each. */
export const instructionLines = (files: ReturnType<SlashContext['instructions']>): readonly string[] =>
  files.map(({ name, text }) => `instructions ${name} (${shortCount(estimateTokens(text.length))} tokens)`);
