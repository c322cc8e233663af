import type { Command, Option } from 'commander';
import { VERSION } from './base/version.js';
import { emptyWorld } from './base/world.js';
import { makeProgram } from './program.js';

const STATUSES = [
  ['0', 'success'],
  ['1', 'a bug'],
  ['2', 'wrong usage'],
  ['3', 'the configuration is missing or invalid'],
  ['4', 'the provider refused the key'],
  ['5', 'provider or network failure, after retries'],
  ['6', 'the request does not fit the context window'],
  ['7', 'the history cannot be read or written'],
  ['8', 'a limit of what may be spent is reached'],
  ['130', 'interrupted'],
  ['143', 'terminated'],
] as const;

const FILES = [
  ['~/.config/hi/config.json', 'the configuration; HI_CONFIG_DIR and --config change its location'],
  ['~/.config/hi/skills/', 'skills, as *.md or NAME/SKILL.md'],
  ['~/.local/share/hi/history.json.zst', 'the conversation; HI_DATA_DIR changes its location'],
] as const;

/** The manual page hi(1) in roff, generated from the commands. The build writes it into the package. */
export const MANUAL = manual(makeProgram(emptyWorld(), () => undefined));

function manual(program: Command): string {
  const lines = [
    `.TH HI 1 "" "hi ${VERSION}" "User Commands"`,
    '.SH NAME',
    'hi \\- one everlasting conversation with a language model, in the terminal',
    '.SH SYNOPSIS',
    '.B hi',
    '[options] [command]',
    '.SH DESCRIPTION',
    escaped(program.description()),
    'Without a command, hi starts the chat on a terminal and asks one question when standard input is piped.',
    '.SH OPTIONS',
    ...program.createHelp().visibleOptions(program).flatMap(optionLines),
    '.SH COMMANDS',
    ...program
      .createHelp()
      .visibleCommands(program)
      .flatMap((command) => commandLines(program, command)),
    '.SH EXIT STATUS',
    ...STATUSES.flatMap(([status, meaning]) => ['.TP', `.B ${status}`, escaped(meaning)]),
    '.SH FILES',
    ...FILES.flatMap(([file, meaning]) => ['.TP', `.I ${escaped(file)}`, escaped(meaning)]),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(program: Command, command: Command): readonly string[] {
  const usage = `${command.name()} ${command.usage()}`.trim();
  const nested = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  return [
    `.SS ${escaped(usage)}`,
    escaped(command.description()),
    ...command.createHelp().visibleOptions(command).filter(isOwn(program)).flatMap(optionLines),
    ...nested.flatMap((one) => [
      '.TP',
      `.B ${escaped(`${one.name()} ${one.usage()}`.trim())}`,
      escaped(one.description()),
    ]),
  ];
}

/** Options that the program itself has with the same meaning are listed once. */
function isOwn(program: Command): (option: Option) => boolean {
  const common = new Set(program.options.map(({ flags, description }) => `${flags} ${description}`));
  return ({ flags, description }) => !common.has(`${flags} ${description}`) && !flags.includes('--help');
}

function optionLines(option: Option): readonly string[] {
  return ['.TP', `.B ${escaped(option.flags)}`, escaped(option.description)];
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
