import { WRAP_MODES, type WrapMode } from '../chat/event.js';
import { pick } from '../registry.js';
import type { SlashCommand } from './common/command.js';

const ABOUT: Readonly<Record<WrapMode, string>> = {
  word: 'at words, at most 100 columns; tables are aligned.',
  terminal: 'by the terminal; answers are shown as received.',
};

/** `/wrap`: shows how the prose of answers is wrapped, or changes it for the rest of the chat. */
export const slashWrap: SlashCommand = {
  name: 'wrap',
  usage: '/wrap [mode]',
  summary: 'show or set how answers are wrapped: word, terminal',
  complete: async (typed) => WRAP_MODES.filter((mode) => mode.startsWith(typed)),
  async *run(argument, { screen }) {
    if (argument !== '') {
      const modes = WRAP_MODES.map((name) => ({ name }));
      screen.wrap = pick(modes, argument, 'way to wrap', 'usage').name;
    }
    yield { type: 'print', text: `Lines are wrapped ${ABOUT[screen.wrap]}` };
  },
};
