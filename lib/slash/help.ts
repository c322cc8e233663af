import { columns } from './common/columns.js';
import type { SlashCommand } from './common/command.js';

const KEYS = [
  ['Enter', 'send'],
  ['Ctrl-J, Alt-Enter', 'start a new line; so does \\ before Enter'],
  ['"""', 'open and close a block of lines'],
  ['Up, Down, Ctrl-R', 'earlier inputs'],
  ['Tab', 'complete commands, models, skills, and files after @'],
  ['Ctrl-G', 'write in your editor'],
  ['Ctrl-C, Esc', 'stop the answer'],
  ['Ctrl-D', 'quit'],
  ['!command', 'run it and share its output; !!command only runs it'],
  ['@path', 'attach a file, or list a folder'],
  ['//text', 'send /text'],
] as const;

/** `/help`: lists every command of the registry, then the keys. */
export const slashHelp: SlashCommand = {
  name: 'help',
  aliases: ['?'],
  usage: '/help',
  summary: 'list the commands and keys',
  async *run(_argument, { commands }) {
    const rows = commands.map(({ usage, summary, aliases }) => {
      const also = aliases === undefined ? '' : ` (also ${aliases.map((alias) => `/${alias}`).join(', ')})`;
      return [usage, `${summary}${also}`] as const;
    });
    yield { type: 'print', text: `${columns(rows)}\n\n${columns(KEYS)}` };
  },
};
