import type { SlashCommand } from './common/command.js';

/** `/cost`: shows what this chat and the whole conversation cost. */
export const slashCost: SlashCommand = {
  name: 'cost',
  aliases: ['tokens'],
  usage: '/cost',
  summary: 'show tokens and cost, this chat and in total',
  async *run(_argument, { session, prices }) {
    await session.history.refresh();
    yield { type: 'print', text: await prices.total() };
  },
};
