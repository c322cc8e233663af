import { type Command, CommanderError } from 'commander';
import { asHiError, EXIT_STATUS, HiError, isAbort } from '../errors.js';
import { nearest, suggestion } from '../registry.js';
import { errorText, wrapLines } from '../screen/print.js';
import { neutralise } from '../screen/text/neutralise.js';
import { shellQuoted, writeJson } from './base/command-output.js';
import type { World } from './base/world.js';

/** How an error is printed. */
interface ReportOptions {
  /** Also print the stack. */
  readonly debug: boolean;
  /** Also print `{"error":{code,message,hint}}` on stdout, for scripts. */
  readonly json: boolean;
}

/** The one place that prints an error: what happened, then what to do, on stderr. Returns the exit status. */
export function reportError(thrown: unknown, world: World, options: ReportOptions): number {
  // What runs before a turn, such as a command that prints the key, is cancelled with an error of Node's own.
  const error = isAbort(thrown) ? interrupted(thrown) : asHiError(thrown);
  const { code, message, hint } = error;
  if (options.json) writeJson(world.stdout, { error: { code, message, hint } });
  const text = errorText(error);
  const { isTTY, columns = 80 } = world.stderr;
  world.stderr.write(`${isTTY ? wrapLines(text, columns) : text}\n`);
  if (options.debug) world.stderr.write(`${neutralise(stackOf(error))}\n`);
  return EXIT_STATUS[code];
}

function interrupted(thrown: unknown): HiError {
  return thrown instanceof HiError ? thrown : new HiError('interrupted', 'Interrupted.', { cause: thrown });
}

function stackOf(error: HiError): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\nCaused by: ${error.cause.stack ?? error.cause.message}` : stack;
}

/**
 * The error for words that begin with no command of `parent`. It names what was meant: the nearest command, one of the
 * chat, or the question.
 */
export async function unknownCommand(words: readonly string[], parent: Command): Promise<HiError> {
  const [typed = ''] = words;
  const names = parent.commands.map((command) => command.name());
  if (parent.parent !== null) {
    return new HiError('usage', `Unknown command '${parent.name()} ${typed}'.`, { hint: suggestion(typed, names) });
  }
  const error = (hint: string): HiError => new HiError('usage', `Unknown command '${typed}'.`, { hint });
  const near = parent.commands.find((command) => command.name() === nearest(typed, names));
  const { slashCommands } = await import('../slash/index.js');
  const ofChat = slashCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const isSentence = words.length > 1 || /\s/.test(typed);
  if (isSentence && ofChat.includes(typed))
    return error(`In the chat it is /${typed}. To ask it as a question, run: hi ask ${shellQuoted(words.join(' '))}`);
  if (isSentence && (near?.registeredArguments.length ?? 0) === 0)
    return error(`To ask it, run: hi ask ${shellQuoted(words.join(' '))}`);
  if (near !== undefined) return error(`${suggestion(typed, names)} To ask a question, run: hi ask "…"`);
  const inChat = nearest(typed, ofChat);
  if (inChat !== null) return error(`It is a command of the chat. Run 'hi', then type: /${inChat}`);
  return error(`${suggestion(typed, names)} To ask a question, run: hi ask "…"`);
}

/** The error for `hi chat TEXT`. */
export function chatWithText(words: readonly string[]): HiError {
  return new HiError('usage', `'hi chat' takes no text: '${words.join(' ')}'.`, {
    hint: `To ask one question, run: hi ask ${shellQuoted(words.join(' '))}`,
  });
}

/** Throws a `HiError` of code `usage` where `help` names a command that does not exist. */
export async function checkHelpWords([first, ...words]: readonly string[], program: Command): Promise<void> {
  let parent = program;
  for (const [index, word] of words.entries()) {
    if (first !== 'help' || word.startsWith('-')) return;
    const found = parent.commands.find((command) => command.name() === word || command.aliases().includes(word));
    if (found === undefined) throw await unknownCommand(words.slice(index), parent);
    parent = found;
  }
}

/**
 * An error of commander as a `HiError` that names the help of the command; null after help or version, which it throws
 * too.
 */
export function asUsageError(thrown: unknown, words: readonly string[], program: Command): unknown {
  if (!(thrown instanceof CommanderError)) return thrown;
  if (thrown.exitCode === 0 || thrown.code === 'commander.help') return null;
  const [first = '', ...rest] = thrown.message
    .replace(/^error: /, '')
    .replace(/\.{1,3}$/, '')
    .split('\n');
  const hint = rest.join(' ').replace(/^\(|\)$/g, '');
  return new HiError('usage', `${first.charAt(0).toUpperCase()}${first.slice(1)}.`, {
    hint: `${hint === '' ? '' : `${hint} `}Run '${commandIn(words, program)} --help' for usage.`,
  });
}

/** The command that the words begin with: `hi config set`. */
function commandIn([word, ...rest]: readonly string[], parent: Command): string {
  const found = parent.commands.find((command) => command.name() === word);
  return found === undefined ? parent.name() : `${parent.name()} ${commandIn(rest, found)}`;
}
