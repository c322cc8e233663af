import { Argument, Command, CommanderError, Option } from 'commander';
import { HiError } from '../errors.js';
import { providers } from '../providers/index.js';
import { suggestion } from '../registry.js';
import { addChatOptions, addCommonOptions, addModelOptions, type ChatOptions } from './base/command-options.js';
import { VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { askCommand } from './commands/ask-command.js';

/** What a command leaves: its exit status. */
type Status = number;

/** Parses the command line and runs its command; resolves to the exit status. Throws a `HiError` of code `usage` for what cannot be parsed. */
export async function runProgram(world: World): Promise<Status> {
  let status: Status = 0;
  const finish = (finished: Status): void => {
    status = finished;
  };
  const program = makeProgram(world, finish, world.argv.some(asksForHelp) ? null : world.argv);
  try {
    await program.parseAsync([...world.argv], { from: 'user' });
    return status;
  } catch (thrown) {
    const error = asUsageError(thrown);
    if (error === null) return 0;
    throw error;
  }
}

function asksForHelp(word: string): boolean {
  return word === 'help' || word === '--help' || /^-[a-z]*h/i.test(word);
}

/**
 * The command line: every command with its options, each loading its own code when it runs. `finish` is told the exit status.
 * Help, completion and the manual page read it. With `words` that begin with a command, the others are left out: a start pays for none of them.
 */
export function makeProgram(
  world: World,
  finish: (status: Status) => void,
  words: readonly string[] | null = null,
): Command {
  const titles = providers.map(({ title }) => title);
  const vendors = `${titles.slice(0, -1).join(', ')} or ${titles.at(-1)}`;
  const program = new Command('hi')
    .description(`One conversation, for ever, with ${vendors}.`)
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: () => {},
    })
    .showSuggestionAfterError()
    .argument('[command...]')
    .usage('[options] [command]')
    .addHelpText('after', '\nWithout a command: the chat on a terminal, one question when stdin is piped.');
  program.action(async ([command]: readonly string[], _options, self: Command) => {
    if (command !== undefined) throw unknownCommand(command, self);
    const options: ChatOptions & { readonly print?: string } = self.opts();
    if (options.print !== undefined) return finish(await askCommand(world, [options.print], options));
    if (world.stdinIs === 'terminal')
      return finish(await (await import('./commands/chat-command.js')).chatCommand(world, options, true));
    return finish(await askCommand(world, [], options));
  });

  const commands: Readonly<Record<string, readonly [string, (command: Command) => void]>> = {
    chat: [
      'talk, line by line',
      (command) =>
        addChatOptions(command).action(async (_options, self: Command) =>
          finish(await (await import('./commands/chat-command.js')).chatCommand(world, all(self))),
        ),
    ],

    ask: [
      'one question, the answer on stdout; stdin, when piped, is sent too',
      (command) =>
        addChatOptions(command)
          .argument('[text...]', 'the question; - reads it from stdin')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await askCommand(world, text, all(self))),
          ),
    ],

    reset: [
      'clear the conversation; a copy is kept until the next reset',
      (command) =>
        addCommonOptions(command)
          .option('-y, --yes', 'do not ask')
          .option('--undo', 'bring back what the last reset cleared')
          .option('--purge', 'keep no copy')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/reset-command.js')).resetCommand(world, all(self))),
          ),
    ],

    compact: [
      'make the conversation shorter for the model, now',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .argument('[focus...]', 'what the summary should pay attention to')
          .option('--strategy <name>', 'summary, truncate or replace')
          .option('--dry-run', 'only say what would happen')
          .option('--json', 'print what was done as JSON')
          .action(async (focus: readonly string[], _options, self: Command) =>
            finish(await (await import('./commands/compact-command.js')).compactCommand(world, focus, all(self))),
          ),
    ],

    history: [
      'the whole transcript',
      (command) =>
        addCommonOptions(command)
          .option('-n, --number <count>', 'only the last messages', count)
          .option('--find <text>', 'only the messages that contain TEXT')
          .option('--json', 'as a JSON array')
          .option('--md', 'as Markdown')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/history-command.js')).historyCommand(world, all(self))),
          ),
    ],

    status: [
      'how long the conversation is and how full the window',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .option('--json', 'as JSON')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/status-command.js')).statusCommand(world, all(self))),
          ),
    ],

    skills: [
      'the skills found, and what was found wrong with any',
      (command) =>
        addCommonOptions(command)
          .argument('[name]', 'show this one, and why it is in or out')
          .option('--json', 'as JSON')
          .action(async (name: string | undefined, _options, self: Command) =>
            finish(await (await import('./commands/skills-command.js')).skillsCommand(world, name, all(self))),
          ),
    ],

    config: [
      'set up, check and show the configuration',
      (command) => addConfigCommands(command, program, world, finish),
    ],

    completion: [
      'print a completion script for your shell',
      (command) =>
        command
          .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish', 'words']))
          .argument('[line...]', 'for words: the command line so far')
          .action(async (shell: string, line: readonly string[]) =>
            finish(
              await (await import('./commands/completion-command.js')).completionCommand(
                world,
                makeProgram(world, () => undefined),
                shell,
                line,
              ),
            ),
          ),
    ],
  };
  // Who names a command first has nothing to do with the others, nor with what stands before a command's name.
  const named = words?.[0] !== undefined && Object.hasOwn(commands, words[0]) ? words[0] : null;
  if (named === null) {
    addChatOptions(program).addOption(
      new Option('-p, --print <text>', 'ask TEXT, print the answer and leave: hi ask TEXT'),
    );
  }
  for (const [name, [description, complete]] of Object.entries(commands)) {
    if (named !== null && name !== named) continue;
    const command = program.command(name).description(description).exitOverride();
    complete(command.helpOption('-h, --help', 'print this help').copyInheritedSettings(program));
  }
  return program;
}

function addConfigCommands(config: Command, program: Command, world: World, finish: (status: Status) => void): void {
  const add = (name: string, description: string): Command =>
    addCommonOptions(
      config
        .command(name)
        .description(description)
        .exitOverride()
        .helpOption('-h, --help', 'print this help')
        .copyInheritedSettings(program),
    );
  add('init', 'set up step by step').action(async (_options, self: Command) =>
    finish(await (await import('./commands/config-command.js')).configInitCommand(world, all(self))),
  );
  add('check', 'say what is right and how to mend what is not')
    .option('--live', 'also make one small call')
    .action(async (_options, self: Command) =>
      finish(await (await import('./commands/config-command.js')).configCheckCommand(world, all(self))),
    );
  addModelOptions(add('show', 'print the effective settings, keys masked')).action(async (_options, self: Command) =>
    finish(await (await import('./commands/config-command.js')).configShowCommand(world, all(self))),
  );
  add('path', 'print where the files are')
    .option('--json', 'as JSON')
    .action(async (_options, self: Command) =>
      finish(await (await import('./commands/config-command.js')).configPathCommand(world, all(self))),
    );
  add('schema', 'print the JSON Schema of config.json').action(async () =>
    finish(await (await import('./commands/config-command.js')).configSchemaCommand(world)),
  );
  config.argument('[command...]').action(([typed]: readonly string[]) => {
    if (typed !== undefined) throw unknownCommand(typed, config);
    world.stdout.write(config.helpInformation());
    finish(0);
  });
}

/** The options of a command with those given before it: what was typed wins over defaults, and the nearest over what stands before. */
function all<Options extends object>(command: Command): Options {
  const chain: Command[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) chain.unshift(one);
  const typed = chain.flatMap((one) =>
    Object.entries(one.opts()).filter(([key]) => one.getOptionValueSource(key) === 'cli'),
  );
  return Object.fromEntries([...Object.entries(command.opts()), ...typed]) as Options;
}

function unknownCommand(typed: string, parent: Command): HiError {
  const names = parent.commands.map((command) => command.name());
  return new HiError('usage', `Unknown command '${typed}'.`, {
    hint: `${suggestion(typed, names)} To ask something: hi ask "…"`,
  });
}

function count(value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new HiError('usage', `'${value}' is not a number of messages.`, { hint: 'Give a whole number above 0.' });
}

/** What commander complains of, as our error; null for what is no error (help and version were printed). */
function asUsageError(thrown: unknown): unknown {
  if (!(thrown instanceof CommanderError)) return thrown;
  if (thrown.exitCode === 0 || thrown.code === 'commander.help') return null;
  const [first = '', ...rest] = thrown.message
    .replace(/^error: /, '')
    .replace(/\.+$/, '')
    .split('\n');
  const hint = rest.join(' ').replace(/^\(|\)$/g, '');
  return new HiError('usage', `${first.charAt(0).toUpperCase()}${first.slice(1)}.`, {
    hint: `${hint === '' ? '' : `${hint} `}Run 'hi --help' for what there is.`,
  });
}
