import { Argument, type Command, Option } from 'commander';
import { HiError } from '../errors.js';
import {
  addAllOption,
  addChatOptions,
  addCommonOptions,
  addContinueOption,
  addExtractOption,
  addFormatOptions,
  addModelOptions,
  addSchemaOptions,
} from './base/add-options.js';
import { type ChatOptions, mergedOptions } from './base/options.js';
import type { World } from './base/world.js';
import { chatCommand } from './chat/chat.js';
import { acpCommand } from './commands/acp-command.js';
import { askCommand } from './commands/ask-command.js';
import { compactCommand } from './commands/compact-command.js';
import { completionCommand } from './commands/completion-command.js';
import { exportCommand } from './commands/export-command.js';
import { forgetCommand } from './commands/forget-command.js';
import { historyCommand } from './commands/history-command.js';
import { importCommand } from './commands/import-command.js';
import { memoryCommand, rememberCommand } from './commands/memory-command.js';
import { modelsCommand } from './commands/models-command.js';
import { recallCommand } from './commands/recall-command.js';
import { resetCommand } from './commands/reset-command.js';
import { shareCommand } from './commands/share-command.js';
import { shellInitCommand } from './commands/shell-init-command.js';
import { skillsCommand } from './commands/skills-command.js';
import { statusCommand } from './commands/status-command.js';
import { usageCommand } from './commands/usage-command.js';
import { chatWithText } from './report-error.js';
import { STRATEGY_NAMES } from './strategy-names.js';
import { addConfigCommands, addMcpCommands } from './subcommands.js';

/** Takes the exit status of the command that ran. */
export type Finish = (status: number) => void;

/** What a command is for, and what adds its options, arguments and action. */
type CommandRow = readonly [description: string, complete: (command: Command) => void];

/** Every command by name, in the order of the help. `whole` makes a program with all of them. */
export function commandTable(
  world: World,
  program: Command,
  finish: Finish,
  whole: () => Command,
): Readonly<Record<string, CommandRow>> {
  const models: string[] = [];
  return {
    chat: [
      'chat, line by line',
      (command) =>
        addContinueOption(addChatOptions(command))
          .allowExcessArguments()
          .action(async (_options, self: Command) => {
            if (self.args.length > 0) throw chatWithText(self.args);
            finish(await chatCommand(world, mergedOptions(self)));
          }),
    ],

    ask: [
      'ask one question; the answer goes to stdout, and piped stdin is sent too',
      (command) =>
        addAllOption(addExtractOption(addSchemaOptions(addFormatOptions(addChatOptions(command)))))
          .option('-c, --command <name>', 'ask with your own command NAME; the text is its arguments')
          .option('--wait [time]', 'wait for a server that says when it answers again: --wait, --wait=30m')
          .option('--later', 'keep the question until hi chat starts or hi ask --pending')
          .option('--pending', 'ask what was kept, in order')
          .option('--files0-from <path>', 'attach the NUL-separated list of files in PATH, or - for stdin')
          .argument('[text...]', 'the question; - reads it from stdin')
          .on('option:model', (name: string) => models.push(name))
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await askCommand(world, text, { ...mergedOptions<ChatOptions>(self), ...several(models) })),
          ),
    ],

    reset: [
      'clear the conversation; a copy is kept until the next reset',
      (command) =>
        addCommonOptions(command)
          .option('-y, --yes', 'do not ask for confirmation')
          .option('--undo', 'restore what the last reset cleared')
          .option('--purge', 'keep no copy')
          .option('--everywhere', 'on all machines that share the conversation')
          .action(async (_options, self: Command) => finish(await resetCommand(world, mergedOptions(self)))),
    ],

    compact: [
      'compact the conversation now',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .argument('[focus...]', 'what the summary should focus on')
          .option('--strategy <name>', `one of: ${STRATEGY_NAMES.join(', ')}`)
          .option('--all', 'summarise everything that was said, also what was skipped')
          .option('--dry-run', 'only print what would happen')
          .option('--json', 'print the result as JSON')
          .action(async (focus: readonly string[], _options, self: Command) =>
            finish(await compactCommand(world, focus, mergedOptions(self))),
          ),
    ],

    history: [
      'print the transcript',
      (command) =>
        addCommonOptions(command)
          .argument('[id]', "only the messages around this one, or around this compaction: '#77'")
          .option('-n, --number <count>', 'only the last messages', count)
          .option('--find <text>', 'only the messages with these words, best match first')
          .option('--since <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .addOption(new Option('--role <role>', 'only messages of this role').choices(['user', 'assistant', 'tool']))
          .option('--in <book>', 'the messages of this imported book')
          .option('--no-undone', 'leave out what was undone or failed, and notes about pins')
          .option('--follow', 'keep printing new messages; with --json one object per line')
          .option('--json', 'print as a JSON array')
          .option('--md', 'print as Markdown')
          .option('--html [file]', 'write an HTML page to FILE, or print it')
          .option('-y, --yes', 'overwrite FILE without asking')
          .action(async (id: string | undefined, _options, self: Command) =>
            finish(await historyCommand(world, id ?? null, mergedOptions(self))),
          ),
    ],

    recall: [
      'search the whole conversation',
      (command) =>
        addCommonOptions(command)
          .argument('[text...]', 'the words that were said; "exact words" in quotes')
          .option('--from <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .addOption(new Option('--who <who>', 'only messages from one of them').choices(['user', 'assistant', 'tool']))
          .option('-n, --number <count>', 'at most this many messages (10)', count)
          .option('--in <book>', 'only in this imported book')
          .option('--json', 'print as a JSON array')
          .option('--rebuild', 'rebuild the index, including what is not indexed yet')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await recallCommand(world, text, mergedOptions(self))),
          ),
    ],

    remember: [
      'add a line to the memory, which is sent with every request',
      (command) =>
        addCommonOptions(command)
          .argument('[text...]', 'the line to add')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await rememberCommand(world, text, mergedOptions(self))),
          ),
    ],

    memory: [
      'print the memory',
      (command) =>
        addCommonOptions(command)
          .option('--json', 'print as a JSON array, with the origin of each line')
          .action(async (_options, self: Command) => finish(await memoryCommand(world, mergedOptions(self)))),
    ],

    forget: [
      'remove a text, or messages, for good from everything hi stores',
      (command) =>
        addCommonOptions(command)
          .argument('[text...]', "everything with this text; '#12' for the message with that id")
          .option('--since <time>', 'everything not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--last', 'the last turn')
          .option('--in <book>', 'only messages of this imported book')
          .option('-y, --yes', 'do not ask for confirmation')
          .option('--json', 'print what was removed as JSON')
          .action(async (text: readonly string[], _options, self: Command) =>
            finish(await forgetCommand(world, text, mergedOptions(self))),
          ),
    ],

    import: [
      'take in what was said to other programs, each as a book, or in other histories of hi',
      (command) =>
        addCommonOptions(command)
          .argument(
            '[path...]',
            'exports and stores: files, ZIP archives, folders, or a program; all that is here without one',
          )
          .option('--since <time>', 'only what is not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--watch', 'take in what is new of every book whose source is here; for cron')
          .option('--review', 'propose lines for the memory from what you told other programs again and again')
          .option('--mirror', 'also follow what the source changed or deleted')
          .option('--dry-run', 'only print what would happen')
          .option('--list', 'list the books')
          .option('--remove <name>', 'remove a book')
          .option('--theirs', "also take in a history of hi that is another person's, as foreign")
          .option('--conflicts', 'take in the conflict copies of the history that a syncer left, and remove them')
          .option('-y, --yes', 'do not ask for confirmation')
          .option('--json', 'print as a JSON array')
          .action(async (paths: readonly string[], _options, self: Command) =>
            finish(await importCommand(world, paths, mergedOptions(self))),
          ),
    ],

    export: [
      'write the conversation and the books in a form that other programs read',
      (command) =>
        addCommonOptions(command)
          .argument('<folder>', 'a folder that does not exist yet')
          .option('--to <form>', 'chatgpt-json, claude-code, llm or markdown')
          .action(async (folder: string, _options, self: Command) =>
            finish(await exportCommand(world, folder, mergedOptions(self))),
          ),
    ],

    share: [
      'share the conversation with your other machines, through a folder that a syncer keeps alike',
      (command) =>
        addCommonOptions(command)
          .argument('[folder]', "the folder; 'sync' exchanges everything now")
          .option('--name <name>', 'your name for this machine')
          .option('--key', 'print the key, for the other machines')
          .option('--off', 'share no longer; the folder stays as it is')
          .option('--repair', 'read everything again, and write again what is missing')
          .option('--json', 'print as JSON')
          .action(async (folder: string | undefined, _options, self: Command) =>
            finish(await shareCommand(world, folder ?? null, mergedOptions(self))),
          ),
    ],

    status: [
      'show how long the conversation is and how full the window is',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .option('--json', 'print as JSON')
          .action(async (_options, self: Command) => finish(await statusCommand(world, mergedOptions(self)))),
    ],

    usage: [
      'show the tokens and the cost of the conversation',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .addOption(
            new Option('--by <period>', 'one line per period (day)').choices(['day', 'month', 'model', 'server']),
          )
          .option('--since <time>', 'not older than this: 2026-03-14, 2026-03, 2026, yesterday, 30d')
          .option('--until <time>', 'not newer than this')
          .option('--in <book>', 'of this imported book')
          .option('--json', 'print as a JSON array')
          .action(async (_options, self: Command) => finish(await usageCommand(world, mergedOptions(self)))),
    ],

    models: [
      'list the models of the server in use',
      (command) =>
        addCommonOptions(command).action(async (_options, self: Command) =>
          finish(await modelsCommand(world, mergedOptions(self))),
        ),
    ],

    skills: [
      'list the skills, and what is wrong with any',
      (command) =>
        addCommonOptions(command)
          .argument('[name]', 'show this skill, and why it is or is not sent')
          .option('--json', 'print as JSON')
          .action(async (name: string | undefined, _options, self: Command) =>
            finish(await skillsCommand(world, name, mergedOptions(self))),
          ),
    ],

    config: [
      'set up, check and show the configuration',
      (command) => addConfigCommands(command, program, world, finish),
    ],

    mcp: [
      'list, test and change MCP servers (Model Context Protocol)',
      (command) => addMcpCommands(command, program, world, finish),
    ],

    acp: [
      'speak the Agent Client Protocol on stdin and stdout, for editors',
      (command) =>
        addModelOptions(addCommonOptions(command))
          .option('-y, --yes', 'answer every question with yes; deny rules still refuse a tool call')
          .option('-n, --ephemeral', 'use the whole conversation, but do not add to it')
          .action(async (_options, self: Command) => finish(await acpCommand(world, mergedOptions(self)))),
    ],

    completion: [
      'print a completion script for your shell',
      (command) =>
        command
          // Not validated against the choices: the completion scripts pass `words`, which is not a shell.
          .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']).argParser((shell) => shell))
          .argument('[line...]', 'for words: the command line so far')
          .action(async (shell: string, line: readonly string[]) =>
            finish(await completionCommand(world, whole(), shell, line)),
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
            finish(await shellInitCommand(world, shell, task, line)),
          ),
    ],
  };
}

const several = (models: readonly string[]): Pick<ChatOptions, 'models'> => (models.length < 2 ? {} : { models });

function count(value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new HiError('usage', `Invalid number of messages '${value}'.`, { hint: 'Use a whole number above 0.' });
}
