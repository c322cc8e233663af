import { WEB_MODES } from '../chat/model.js';
import { pick } from '../registry.js';
import type { SlashCommand } from './common/command.js';

const MODES = WEB_MODES.map((name) => ({ name }));

/** `/web`: shows whether the model may search the web, or changes it for the rest of the chat. */
export const slashWeb: SlashCommand = {
  name: 'web',
  usage: '/web [on|off|auto]',
  summary: 'show or set whether the model may search the web',
  complete: async (typed) => WEB_MODES.filter((mode) => mode.startsWith(typed)),
  async *run(argument, { session }) {
    if (argument !== '') session.useWeb(pick(MODES, argument, 'setting', 'usage').name);
    yield { type: 'print', text: `Web search: ${session.web}.` };
  },
};
