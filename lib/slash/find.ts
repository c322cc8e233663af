import { quantity } from '../chat/text.js';
import { HiError } from '../errors.js';
import { foundLines, summaryLine } from '../recall/show/passage.js';
import type { SlashCommand } from './common/command.js';

/** How many messages are listed. */
const LISTED = 20;

/** `/find`: lists the messages of the whole conversation that match some words best. */
export const slashFind: SlashCommand = {
  name: 'find',
  aliases: ['search'],
  usage: '/find TEXT',
  summary: 'search the whole conversation',
  takesWords: true,
  async *run(argument, { session, now }, signal) {
    if (argument === '') throw new HiError('usage', 'No search text given.', { hint: 'Type: /find TEXT' });
    const finder = await session.finder();
    for await (const left of finder.indexAll(signal))
      yield { type: 'waiting', what: `indexing, ${quantity(left, 'piece')} of the history left` };
    const search = { query: argument, who: null, from: null, until: null, every: true, count: LISTED };
    const found = await finder.search(search, signal);
    for (const { text, marks } of foundLines(found, argument, now())) yield { type: 'print', text, hits: marks };
    yield { type: 'print', text: summaryLine(found, argument) };
  },
};
