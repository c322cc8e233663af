import type { Argument, Command, Option } from 'commander';
import { strategies } from '../../compaction/index.js';
import { commandFolders, findPaths } from '../../config/paths.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { tools } from '../../tools/index.js';
import { readSettings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { findOwnCommands, type OwnCommand } from '../input/own-commands.js';
import { Connections } from '../wiring/connections.js';
import { SCRIPTS, SHELLS } from './completion-scripts.js';
import { findSkills } from './skills-command.js';

/** How long a server may take to list its models while the user waits after Tab. Milliseconds. */
const MODELS_TIMEOUT = 2000;

/**
 * Prints a shell's completion script. With `words`, as those scripts call it, prints the candidates for the last word
 * of a command line.
 */
export async function completionCommand(
  world: World,
  program: Command,
  shell: string,
  line: readonly string[],
): Promise<number> {
  if (shell !== 'words') {
    world.stdout.write(SCRIPTS[pick(SHELLS, shell, 'shell', 'usage').name]);
    return 0;
  }
  const names = (members: readonly { readonly name: string }[]): readonly string[] => members.map(({ name }) => name);
  const words = await nextWords(program, line, {
    models: () => orNone(() => models(world)),
    skills: () => orNone(async () => names((await findSkills(world, {})).skills)),
    commands: () => orNone(async () => names(await ownCommands(world))),
    providers: names(providers),
    strategies: strategies.map(({ name, summary }) => ({ text: name, description: summary })),
    tools: names(tools),
  });
  // A line for each word: what has more than one line, or draws on the terminal, is none.
  const plain = words.filter(({ text }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text));
  world.stdout.write(
    plain.map(({ text, description }) => (description === '' ? `${text}\n` : `${text}\t${description}\n`)).join(''),
  );
  return 0;
}

async function ownCommands(world: World): Promise<readonly OwnCommand[]> {
  return findOwnCommands(commandFolders(world, await findPaths(world.env, null)));
}

async function models(world: World): Promise<readonly string[]> {
  const settings = await readSettings(world, {});
  if (settings.config === null) return [];
  const connections = new Connections(world, {}, settings, settings.config);
  return await connections.models(connections.target(settings.config), MODELS_TIMEOUT);
}

/** Completion stays silent about errors: the command itself reports them. */
async function orNone(find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await find();
  } catch {
    return [];
  }
}

/** A candidate for completion, with its description. */
interface CompletionWord {
  readonly text: string;
  readonly description: string;
}

/** Candidates that only the running program knows. Never rejects. */
interface CompletionSources {
  readonly models: () => Promise<readonly string[]>;
  readonly skills: () => Promise<readonly string[]>;
  /** The user's own commands. */
  readonly commands: () => Promise<readonly string[]>;
  readonly providers: readonly string[];
  /** With their descriptions. */
  readonly strategies: readonly CompletionWord[];
  readonly tools: readonly string[];
}

/**
 * The candidates for the last word of a command line, which is given without the program's name. None where a file is
 * expected: the shell completes files.
 */
async function nextWords(
  program: Command,
  line: readonly string[],
  names: CompletionSources,
): Promise<readonly CompletionWord[]> {
  const typed = line.at(-1) ?? '';
  const { command, pendingOption, position } = parseWords(program, line.slice(0, -1));
  const equals = /^(--[a-z-]+)=(.*)$/.exec(typed);
  const found = equals
    ? (await values(optionOf(command, equals[1] ?? ''), names)).map((word) => ({
        ...word,
        text: `${equals[1]}=${word.text}`,
      }))
    : pendingOption
      ? await values(pendingOption, names)
      : typed.startsWith('-')
        ? command.createHelp().visibleOptions(command).flatMap(optionWord)
        : [
            ...subcommands(command, position),
            ...(await argumentWords(command.registeredArguments[position], command, names)),
          ];
  return found.filter(({ text }) => text.startsWith(typed));
}

interface ParsedWords {
  /** The command that the words select. */
  readonly command: Command;
  /** The option whose value comes next. */
  readonly pendingOption: Option | undefined;
  /** The number of arguments before the last word. */
  readonly position: number;
}

function parseWords(program: Command, words: readonly string[]): ParsedWords {
  let command = program;
  let position = 0;
  let pendingOption: Option | undefined;
  for (const word of words) {
    if (pendingOption) pendingOption = undefined;
    else if (word.startsWith('-')) pendingOption = word.includes('=') ? undefined : needsValue(optionOf(command, word));
    else {
      const next = position === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (next) command = next;
      else position += 1;
    }
  }
  return { command, pendingOption, position };
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ short, long }) => word === short || word === long);
}

function needsValue(option: Option | undefined): Option | undefined {
  return option?.required ? option : undefined;
}

function optionWord(option: Option): readonly CompletionWord[] {
  const { long, description } = option;
  return long ? [{ text: long, description }] : [];
}

function subcommands(command: Command, position: number): readonly CompletionWord[] {
  if (position > 0) return [];
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ text: one.name(), description: one.description() }));
}

async function values(option: Option | undefined, names: CompletionSources): Promise<readonly CompletionWord[]> {
  if (option?.argChoices) return plain(option.argChoices);
  switch (option?.attributeName()) {
    case 'model':
      return plain(await names.models());
    case 'provider':
      return plain(names.providers);
    case 'strategy':
      return names.strategies;
    case 'tools':
      return plain(names.tools);
    case 'command':
      return plain(await names.commands());
    default:
      return [];
  }
}

async function argumentWords(
  argument: Argument | undefined,
  command: Command,
  names: CompletionSources,
): Promise<readonly CompletionWord[]> {
  if (argument?.argChoices) return plain(argument.argChoices);
  if (command.name() === 'skills' && argument) return plain(await names.skills());
  return [];
}

function plain(texts: readonly string[]): readonly CompletionWord[] {
  return texts.map((text) => ({ text, description: '' }));
}
