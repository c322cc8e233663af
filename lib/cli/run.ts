import { HiError } from '../errors.js';
import { plainCommand } from './plain.js';
import type { World } from './world.js';

/** Parses the command line and runs the command; resolves to the exit status, after telling an error in the one place that does. */
export async function run(world: World): Promise<number> {
  let failed: HiError | null = null;
  for (const stream of [world.stdout, world.stderr]) {
    stream.on('error', (error) => {
      if (!isClosedPipe(error))
        failed = new HiError('output', `Cannot write the output: ${error.message}`, { cause: error });
    });
  }
  try {
    const plain = plainCommand(world);
    const status = plain === null ? await (await import('./program.js')).runProgram(world) : await plain();
    if (failed !== null) throw failed;
    return status;
  } catch (thrown) {
    const { reportError } = await import('./report.js');
    return reportError(thrown, world, { debug: world.argv.includes('--debug'), json: wantsJson(world.argv) });
  }
}

function isClosedPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}

/** Whether errors are to be printed as JSON too: read from the words, for the error may be that they could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).some((word, place) => {
    if (word === '--json') return true;
    const spaced = word === '-o' || word === '--output-format';
    const value = spaced ? argv[place + 1] : /^(?:-o|--output-format)=?(.*)$/.exec(word)?.[1];
    return value === 'json' || value === 'stream-json';
  });
}
