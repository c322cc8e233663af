import { Argument, Command, Option } from 'commander';
import { HiError } from '../errors.js';
import { providers } from '../providers/index.js';
import {
  addChatOptions,
  addCommonOptions,
  addModelOptions,
  addSchemaOptions,
  type ChatOptions,
} from './base/command-options.js';
import { VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { askCommand } from './commands/ask-command.js';
import { addConfigCommands } from './config-commands.js';
import { mergedOptions } from './merged-options.js';
import { STRATEGY_NAMES } from './strategy-names.js';
import { asUsageError, unknownCommand } from './usage-error.js';

/** The exit status of a command. */
type Status = number;

/** Parses the command line and runs its command. Resolves to the exit status. Throws a `HiError` of code `usage` for what cannot be parsed. */
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
 * The command line: every command with its options, each loading its own code when it runs. Calls `finish` with the exit status.
 * Help, completion and the manual page read it. When `words` begin with a command, the others are left out: a start pays for none of them.
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
    .addHelpText(
      'after',
      '\nWithout a command, hi starts the chat on a terminal and asks one question when stdin is piped.',
    );
  program.action(async ([command]: readonly string[], _options, self: Command) => {
    if (command !== undefined) throw unknownCommand(command, self);
    const options: ChatOptions & { readonly print?: string } = self.opts();
    if (options.print !== undefined) return finish(await askCommand(world, [options.print], options));
    if (world.stdinIs === 'terminal' && options.schema === undefined && options.schemaMulti === undefined)
      return finish(await (await import('./commands/chat-command.js')).chatCommand(world, options, true));
    return finish(await askCommand(world, [], options));
  });

  const commands: Readonly<Record<string, readonly [string, (command: Command) => void]>> = {
    chat: [
      'chat, line by line',
      (command) =>
        addChatOptions(command).action(async (_options, self: Command) =>
          finish(await (await import('./commands/chat-command.js')).chatCommand(world, mergedOptions(self))),
        ),
    ],

    ask: [
      'ask one question; the answer goes to stdout, and piped stdin is sent too',
      (command) =>
        addSchemaOptions(addChatOptions(command))
          .option('-c, --command <name>', 'ask what your own command NAME says; the text is its arguments')
          .option(
            '--files0-from <path>',
            'attach the files whose names stand in PATH, or - for stdin, between NUL bytes',
          )
          .argument('[text...]', 'the question; - reads it from stdin')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await askCommand(world, text, mergedOptions(self))),
          ),
    ],

    reset: [
      'clear the conversation; a copy is kept until the next reset',
      (command) =>
        addCommonOptions(command)
          .option('-y, --yes', 'do not ask for confirmation')
          .option('--undo', 'restore what the last reset cleared')
          .option('--purge', 'keep no copy')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/reset-command.js')).resetCommand(world, mergedOptions(self))),
          ),
    ],

    compact: [
      'compact the conversation now',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .argument('[focus...]', 'what the summary should focus on')
          .option('--strategy <name>', `one of: ${STRATEGY_NAMES.join(', ')}`)
          .option('--dry-run', 'only print what would happen')
          .option('--json', 'print the result as JSON')
          .action(async (focus: readonly string[], _options, self: Command) =>
            finish(
              await (await import('./commands/compact-command.js')).compactCommand(world, focus, mergedOptions(self)),
            ),
          ),
    ],

    history: [
      'print the transcript',
      (command) =>
        addCommonOptions(command)
          .option('-n, --number <count>', 'only the last messages', count)
          .option('--find <text>', 'only the messages that have these words, the best first')
          .option('--since <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .addOption(new Option('--role <role>', 'only messages of this role').choices(['user', 'assistant', 'tool']))
          .option('--follow', 'go on with what is added; with --json one object a line')
          .option('--json', 'print as a JSON array')
          .option('--md', 'print as Markdown')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/history-command.js')).historyCommand(world, mergedOptions(self))),
          ),
    ],

    recall: [
      'find what was said, however long ago',
      (command) =>
        addCommonOptions(command)
          .argument('[text...]', 'the words that were said; "exact words" in quotes')
          .option('--from <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .addOption(new Option('--who <who>', 'only what one of them said').choices(['user', 'model', 'tool']))
          .option('-n, --number <count>', 'at most so many messages (10)', count)
          .option('--json', 'print as a JSON array')
          .option('--rebuild', 'make the index anew, and index what is not indexed yet')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(
              await (await import('./commands/recall-command.js')).recallCommand(world, text, mergedOptions(self)),
            ),
          ),
    ],

    remember: [
      'always keep a text in mind',
      (command) =>
        addCommonOptions(command)
          .argument('[text...]', 'what every request is to say from now on')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(
              await (await import('./commands/remember-command.js')).rememberCommand(world, text, mergedOptions(self)),
            ),
          ),
    ],

    memory: [
      'print what is always kept in mind',
      (command) =>
        addCommonOptions(command)
          .option('--json', 'print as a JSON array, with where each line comes from')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/memory-command.js')).memoryCommand(world, mergedOptions(self))),
          ),
    ],

    status: [
      'show how long the conversation is and how full the window is',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .option('--json', 'print as JSON')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/status-command.js')).statusCommand(world, mergedOptions(self))),
          ),
    ],

    usage: [
      'show what the conversation used: tokens and cost',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .addOption(new Option('--by <period>', 'a line for each (day)').choices(['day', 'month', 'model']))
          .option('--since <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .option('--json', 'print as a JSON array')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/usage-command.js')).usageCommand(world, mergedOptions(self))),
          ),
    ],

    skills: [
      'list the skills, and what is wrong with any',
      (command) =>
        addCommonOptions(command)
          .argument('[name]', 'show this skill, and why it is or is not sent')
          .option('--json', 'print as JSON')
          .action(async (name: string | undefined, _options, self: Command) =>
            finish(
              await (await import('./commands/skills-command.js')).skillsCommand(world, name, mergedOptions(self)),
            ),
          ),
    ],

    config: [
      'set up, check and show the configuration',
      (command) => addConfigCommands(command, program, world, finish),
    ],

    acp: [
      'speak the Agent Client Protocol on stdin and stdout, for editors',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .option('-y, --yes', 'answer every question with yes; deny rules still refuse a tool call')
          .option('-n, --ephemeral', 'use the whole conversation, but do not add to it')
          .action(async (_options, self: Command) =>
            finish(await (await import('./commands/acp-command.js')).acpCommand(world, mergedOptions(self))),
          ),
    ],

    completion: [
      'print a completion script for your shell',
      (command) =>
        command
          // Not validated against the choices: the completion scripts pass `words`, which is not a shell.
          .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']).argParser((shell) => shell))
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

    'shell-init': [
      'print key bindings for your shell: Alt-H writes a command, Alt-E explains one',
      (command) =>
        command
          .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
          .argument('[task]', 'command or explain: what to do with the line')
          .argument('[line...]', 'the command line')
          .action(async (shell: string, task: string | undefined, line: readonly string[]) =>
            finish(await (await import('./commands/shell-init-command.js')).shellInitCommand(world, shell, task, line)),
          ),
    ],
  };
  // A command line that begins with a command needs neither the other commands nor the options that precede one.
  const named = words?.[0] !== undefined && Object.hasOwn(commands, words[0]) ? words[0] : null;
  if (named === null) {
    addSchemaOptions(addChatOptions(program)).addOption(
      new Option('-p, --print <text>', 'ask TEXT and print the answer; the same as hi ask TEXT'),
    );
  }
  for (const [name, [description, complete]] of Object.entries(commands)) {
    if (named !== null && name !== named) continue;
    const command = program.command(name).description(description).exitOverride();
    complete(command.helpOption('-h, --help', 'print this help').copyInheritedSettings(program));
  }
  return program;
}

function count(value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new HiError('usage', `Invalid number of messages '${value}'.`, { hint: 'Use a whole number above 0.' });
}
