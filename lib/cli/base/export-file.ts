import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { HiError, isAbort, systemCode, systemReason } from '../../errors.js';
import { AsideFile } from '../../write-aside.js';

/** The absolute path of a file typed into the chat, where no shell has expanded a `~`. */
export function expandPath(path: string, cwd: string, home: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=\/)/, () => home),
  );
}

/** How long to work without handling keys and signals. Milliseconds. */
const LONGEST_WORK = 50;

/** Replaces a file atomically, or leaves it unchanged. Follows links. Throws a `HiError` of code `usage` that names the file. */
export async function writeFileAtomically(target: string, chunks: AsyncIterable<string>): Promise<void> {
  let aside: AsideFile | null = null;
  try {
    aside = new AsideFile(target, { mode: 0o666 });
    let rested = performance.now();
    for await (const chunk of chunks) {
      writeFileSync(aside.descriptor, chunk);
      if (performance.now() - rested < LONGEST_WORK) continue;
      await yieldToEvents();
      rested = performance.now();
    }
    aside.commit(false);
  } catch (cause) {
    aside?.discard();
    if (cause instanceof HiError || isAbort(cause)) throw cause;
    const isMissing = systemCode(cause) === 'ENOENT';
    const reason = isMissing ? `The folder '${dirname(target)}' does not exist` : systemReason(cause);
    const hint = isMissing ? 'Create it first (mkdir -p), or choose another path.' : 'Choose another path.';
    throw new HiError('usage', `Cannot write '${target}': ${reason}.`, { hint, cause });
  }
}
