import { pick } from '../registry.js';
import type { SlashCommand } from './common/command.js';
import { columns } from './common/shown.js';

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

const NAME_OF_KEYS = 'keys';
const NAME_OF_ALL = 'all';

/** `/help`: names the commands and keys on one screen, explains one command, the keys, or all. */
export const slashHelp: SlashCommand = {
  name: 'help',
  aliases: ['?'],
  usage: '/help [name]',
  summary: 'name the commands, or explain one',
  complete: async (typed, { commands }) =>
    [NAME_OF_KEYS, NAME_OF_ALL, ...commands.map(({ name }) => name)].filter((name) => name.startsWith(typed)),
  async *run(argument, { commands }) {
    yield { type: 'print', text: helpOn(argument.replace(/^\//, ''), commands) };
  },
};

function helpOn(topic: string, commands: readonly SlashCommand[]): string {
  if (topic === '') return overview(commands);
  if (topic === NAME_OF_KEYS) return columns(KEYS);
  if (topic === NAME_OF_ALL)
    return `${columns(commands.map((command) => [command.usage, described(command)]))}\n\n${columns(KEYS)}`;
  return explained(pick(commands, topic, 'command', 'usage', '/help names them all.'));
}

/** Short enough for a screen of 24 rows and 40 columns. */
function overview(commands: readonly SlashCommand[]): string {
  const names = commands.map(({ name }) => `/${name}`).join(' ');
  const keys =
    'Tab completes, Ctrl-J starts a new line, Ctrl-G opens your editor, Ctrl-C stops, Ctrl-D quits, !command runs it, @path attaches a file.';
  return `${names}\n\n${keys}\n\n/help NAME explains a command, /help keys all keys, /help all everything.`;
}

function described({ summary, aliases }: SlashCommand): string {
  return aliases === undefined ? summary : `${summary} (also ${aliases.map((alias) => `/${alias}`).join(', ')})`;
}

function explained(command: SlashCommand): string {
  const { name, usage, options, isOnCommandLine } = command;
  const known = options === undefined ? '' : `\n    One of: ${options.join(', ')}`;
  const elsewhere = isOnCommandLine ? `\n    On the command line: hi ${name} --help` : '';
  return `${usage}\n    ${described(command)}${known}${elsewhere}`;
}
