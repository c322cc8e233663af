import { textOf } from '../chat/message.js';
import type { SlashCommand } from './common/command.js';
import { beginningOf } from './common/shown.js';

/** `/pins`: lists what stays in view through compactions. */
export const slashPins: SlashCommand = {
  name: 'pins',
  usage: '/pins',
  summary: 'list what is pinned',
  async *run(_argument, { session }) {
    await session.history.refresh();
    const { pins } = session;
    const rows = pins.list().map(({ id, role, at, content }, index) => {
      const who = role === 'user' ? 'you' : 'model';
      return `${index + 1}  #${id} · ${new Date(at).toLocaleDateString('sv')} · ${who} · ${beginningOf(textOf(content))}`;
    });
    const text = `${rows.join('\n')}\nPins take ${pins.tokens} of ${pins.room} tokens.`;
    yield { type: 'print', text: rows.length === 0 ? 'Nothing is pinned. /pin keeps the last answer in view.' : text };
  },
};
