import { HiError } from '../errors.js';
import { BY_MODEL } from '../processes.js';
import type { ChatOptions } from './base/options.js';
import { showHistoryProgress, showWaits } from './base/output.js';
import type { World } from './base/world.js';
import { chatCommand } from './chat/chat.js';
import { askCommand } from './commands/ask-command.js';
import { runProgram } from './program.js';
import { reportError } from './report-error.js';

/** Parses the command line and runs the command. Resolves to the exit status; an error is printed first. */
export async function run(world: World): Promise<number> {
  let failed: HiError | null = null;
  for (const stream of [world.stdout, world.stderr]) {
    stream.on('error', (error) => {
      if (!isClosedPipe(error))
        failed = new HiError('output', `Cannot write the output: ${error.message}`, { cause: error });
    });
  }
  if (!optionsIn(world.argv).some((word) => word === '-q' || word === '--quiet')) {
    showHistoryProgress(world);
    showWaits(world);
  }
  try {
    const fast = fastPathCommand(world);
    const status = fast === null ? await runProgram(world) : await fast();
    if (failed !== null) throw failed;
    return status;
  } catch (thrown) {
    const options = optionsIn(world.argv);
    return reportError(thrown, world, { debug: options.includes('--debug'), json: wantsJson(options) });
  }
}

function isClosedPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}

/** The words that may be options: those before `--`. Not parsed, for the error may be that they cannot be. */
function optionsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Whether errors are also printed as JSON. */
function wantsJson(options: readonly string[]): boolean {
  return options.some((word, place) => {
    if (word === '--json') return true;
    const spaced = word === '-o' || word === '--output-format';
    const value = spaced ? options[place + 1] : /^(?:-o|--output-format)=?(.*)$/.exec(word)?.[1];
    return value === 'json' || value === 'stream-json';
  });
}

/** The options of a turn when none is given. */
export const NO_OPTIONS: ChatOptions = { stream: true, tools: true, outputFormat: 'text' };

/**
 * The commands that people type most, without options: `hi`, `hi chat`, `hi ask WORDS`. They need no parser, so a start
 * does not load it. Null for everything else.
 */
export function fastPathCommand(world: World): (() => Promise<number>) | null {
  const [command, ...words] = world.argv;
  if (words.some((word) => word.startsWith('-') && word !== '-') || world.env[BY_MODEL]) return null;
  if (command === 'ask') return () => askCommand(world, words, NO_OPTIONS);
  if (words.length > 0 || (command !== undefined && command !== 'chat')) return null;
  if (command === undefined && world.stdinIs !== 'terminal') return () => askCommand(world, [], NO_OPTIONS);
  return async () => await chatCommand(world, NO_OPTIONS, command === undefined);
}
