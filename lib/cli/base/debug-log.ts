import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiError } from '../../errors.js';
import { makeFolder } from '../../folder.js';

/**
 * Appends lines to the log of `--debug`, each with the time; only the user can read the file. Every line is there when the call returns, so that the log
 * of a crash is whole. Throws a `HiError` of code `config` naming the file when it cannot be written.
 */
export async function openDebugLog(path: string): Promise<(line: string) => void> {
  const write = (text: string): void => appendFileSync(path, text, { mode: 0o600 });
  try {
    makeFolder(dirname(path), 0o700);
    write('');
  } catch (cause) {
    throw new HiError('config', `Cannot write the log '${path}': ${cause instanceof Error ? cause.message : cause}`, {
      hint: 'Set HI_CACHE_DIR to a folder of yours, or leave --debug out.',
      cause,
    });
  }
  return (line) => write(`${new Date().toISOString()} ${line}\n`);
}
