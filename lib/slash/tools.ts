import type { SlashCommand } from './common/command.js';
import { columns } from './common/shown.js';

/** `/tools`: lists what the model may call. */
export const slashTools: SlashCommand = {
  name: 'tools',
  usage: '/tools',
  summary: 'list the tools the model may use',
  async *run(_argument, { session }) {
    const specs = session.toolSpecs;
    if (specs.length === 0) return yield { type: 'print', text: 'The model has no tools.' };
    const rows = specs.map(({ name, description }) => [name, firstSentence(description)] as const);
    yield { type: 'print', text: columns(rows) };
  },
};

/** The first sentence says what a tool does; the rest is for the model. */
const firstSentence = (description: string): string =>
  /^.*?[.!?](?=\s|$)/.exec(description)?.[0] ?? firstLine(description);

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
