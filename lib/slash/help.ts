import type { SlashCommand } from './command.js';

const KEYS = [
  ['Enter', 'send'],
  ['Ctrl-J, Alt-Enter', 'next line of the same message; so does \\ before Enter'],
  ['"""', 'open and close a block of lines'],
  ['Up, Down, Ctrl-R', 'earlier inputs'],
  ['Tab', 'complete commands, models, skills, and files after @'],
  ['Ctrl-G', 'write in your editor'],
  ['Ctrl-C, Esc', 'stop the answer'],
  ['Ctrl-D', 'leave'],
  ['!command', 'run it and add what it prints; !!command only runs it'],
  ['@path', 'attach a file, or the names in a folder'],
  ['//text', 'send /text'],
] as const;

/** `/help`: every command of the registry with its line, then the keys. */
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

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = rows.reduce((widest, [left]) => Math.max(widest, left.length), 0);
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n');
}
