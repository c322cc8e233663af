import { Command, Option } from 'commander';
import { providers } from '../providers/index.js';
import {
  addAllOption,
  addChatOptions,
  addContinueOption,
  addExtractOption,
  addFormatOptions,
  addSchemaOptions,
} from './base/add-options.js';
import type { ChatOptions } from './base/options.js';
import { VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { isByModel, refuseByModel } from './by-model.js';
import { chatCommand } from './chat/chat.js';
import { commandTable, type Finish } from './command-table.js';
import { askCommand } from './commands/ask-command.js';
import { asUsageError, checkHelpWords, unknownCommand } from './report-error.js';

/**
 * Parses the command line and runs its command. Resolves to the exit status. Throws a `HiError` of code `usage` for
 * what cannot be parsed.
 */
export async function runProgram(world: World): Promise<number> {
  let status = 0;
  const finish: Finish = (finished) => {
    status = finished;
  };
  const program = makeProgram(world, finish, world.argv.some(asksForHelp) ? null : world.argv);
  try {
    await checkHelpWords(world.argv, program);
    await program.parseAsync([...world.argv], { from: 'user' });
    return status;
  } catch (thrown) {
    const error = asUsageError(thrown, world.argv, program);
    if (error === null) return 0;
    throw error;
  }
}

function asksForHelp(word: string): boolean {
  return word === 'help' || word === '--help' || /^-[a-z]*h/i.test(word);
}

/**
 * The command line: every command with its options, each loading its own code when it runs. Calls `finish` with the
 * exit status. Help, completion and the manual page read it. When `words` begin with a command, the others are left
 * out: a start pays for none of them.
 */
export function makeProgram(world: World, finish: Finish, words: readonly string[] | null = null): Command {
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
  program.action(async (words: readonly string[], _options, self: Command) => {
    if (words.length > 0) throw await unknownCommand(words, self);
    const options: ChatOptions & { readonly print?: string } = self.opts();
    if (options.print !== undefined) return finish(await askCommand(world, [options.print], options));
    if (world.stdinIs === 'terminal' && options.schema === undefined && options.schemaMulti === undefined)
      return finish(await chatCommand(world, options, true));
    return finish(await askCommand(world, [], options));
  });

  if (isByModel(world)) program.hook('preAction', (_program, command) => refuseByModel(command));
  const commands = commandTable(world, program, finish, () => makeProgram(world, () => undefined));
  // A command line that begins with a command needs neither the other commands nor the options that precede one.
  const named = words?.[0] !== undefined && Object.hasOwn(commands, words[0]) ? words[0] : null;
  if (named === null) {
    addContinueOption(
      addAllOption(addExtractOption(addSchemaOptions(addFormatOptions(addChatOptions(program))))),
    ).addOption(new Option('-p, --print <text>', 'ask TEXT and print the answer; the same as hi ask TEXT'));
  }
  for (const [name, [description, complete]] of Object.entries(commands)) {
    if (named !== null && name !== named) continue;
    const command = program.command(name).description(description).exitOverride();
    complete(command.helpOption('-h, --help', 'print this help').copyInheritedSettings(program));
  }
  return program;
}
