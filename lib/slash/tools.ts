import type { SlashCommand } from './command.js';

/** `/tools`: what the model may call. */
export const slashTools: SlashCommand = {
  name: 'tools',
  usage: '/tools',
  summary: 'list the tools the model may use',
  async *run(_argument, { session }) {
    const specs = session.toolSpecs;
    if (specs.length === 0) return yield { type: 'print', text: 'The model may use no tools.' };
    const width = specs.reduce((widest, { name }) => Math.max(widest, name.length), 0);
    const lines = specs.map(({ name, description }) => `${name.padEnd(width)}  ${description.split('\n')[0]}`);
    yield { type: 'print', text: lines.join('\n') };
  },
};
