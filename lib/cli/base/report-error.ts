import { asHiError, EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import { errorText, wrapLines } from '../../screen/print.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { writeJson } from './command-output.js';
import type { World } from './world.js';

/** How an error is printed. */
export interface ReportOptions {
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
