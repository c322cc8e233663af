import type { Argument, Command, Option } from 'commander';

/** A word that could come next, and what it is for. */
export interface CompletionWord {
  readonly text: string;
  readonly description: string;
}

/** The names that only the running program knows, by what they name. Never rejects. */
export interface CompletionSources {
  readonly models: () => Promise<readonly string[]>;
  readonly skills: () => Promise<readonly string[]>;
  readonly providers: readonly string[];
  /** With what each does. */
  readonly strategies: readonly CompletionWord[];
  readonly tools: readonly string[];
}

/**
 * The words that could stand in the last place of a command line (without the program's name), by the commands themselves. None where a file is meant:
 * the shell completes files.
 */
export async function nextWords(
  program: Command,
  line: readonly string[],
  names: CompletionSources,
): Promise<readonly CompletionWord[]> {
  const typed = line.at(-1) ?? '';
  const { command, waiting, place } = walk(program, line.slice(0, -1));
  const equals = /^(--[a-z-]+)=(.*)$/.exec(typed);
  const found = equals
    ? (await values(optionOf(command, equals[1] ?? ''), names)).map((word) => ({
        ...word,
        text: `${equals[1]}=${word.text}`,
      }))
    : waiting
      ? await values(waiting, names)
      : typed.startsWith('-')
        ? command.createHelp().visibleOptions(command).flatMap(wordOf)
        : [
            ...subcommands(command, place),
            ...(await argumentWords(command.registeredArguments[place], command, names)),
          ];
  return found.filter(({ text }) => text.startsWith(typed));
}

interface Walk {
  /** The command the words so far belong to. */
  readonly command: Command;
  /** The option whose value comes next. */
  readonly waiting: Option | undefined;
  /** How many arguments it has already. */
  readonly place: number;
}

function walk(program: Command, words: readonly string[]): Walk {
  let command = program;
  let place = 0;
  let waiting: Option | undefined;
  for (const word of words) {
    if (waiting) waiting = undefined;
    else if (word.startsWith('-')) waiting = word.includes('=') ? undefined : needsValue(optionOf(command, word));
    else {
      const next = place === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (next) command = next;
      else place += 1;
    }
  }
  return { command, waiting, place };
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ short, long }) => word === short || word === long);
}

function needsValue(option: Option | undefined): Option | undefined {
  return option?.required ? option : undefined;
}

function wordOf(option: Option): readonly CompletionWord[] {
  const { long, description } = option;
  return long ? [{ text: long, description }] : [];
}

function subcommands(command: Command, place: number): readonly CompletionWord[] {
  if (place > 0) return [];
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
