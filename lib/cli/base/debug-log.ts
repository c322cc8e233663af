import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiError } from '../../errors.js';
import { makeFolder } from '../../folder.js';
import { neutralise } from '../../screen/text/neutralise.js';

/**
 * Opens the log of `--debug`; the function it resolves to appends a line with the time. Only the user can read the file. Each line is on disk when the
 * call returns, so that the log of a crash is complete. Throws a `HiError` of code `config` that names the file.
 */
export async function openDebugLog(path: string): Promise<(line: string) => void> {
  const write = (text: string): void => appendFileSync(path, text, { mode: 0o600 });
  try {
    makeFolder(dirname(path), 0o700);
    write('');
  } catch (cause) {
    throw new HiError(
      'config',
      `Cannot write the debug log '${path}': ${cause instanceof Error ? cause.message : cause}`,
      {
        hint: 'Set HI_CACHE_DIR to a folder you can write to, or run without --debug.',
        cause,
      },
    );
  }
  return (line) => write(`${new Date().toISOString()} ${neutralise(line)}\n`);
}
