import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HiError, systemCode, systemReason } from '../../errors.js';
import { AsideFile } from '../../write-aside.js';

/** The absolute path of a file typed into the chat, where no shell has expanded a `~`. */
export function expandPath(path: string, cwd: string, home: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=\/)/, () => home),
  );
}

/** Replaces a whole file at once, or leaves it as it is. Follows links. Throws a `HiError` of code `usage` that names the file. */
export async function writeFileAtomically(target: string, chunks: AsyncIterable<string>): Promise<void> {
  let aside: AsideFile | null = null;
  try {
    aside = new AsideFile(target, { mode: 0o666 });
    for await (const chunk of chunks) writeFileSync(aside.descriptor, chunk);
    aside.commit(false);
  } catch (cause) {
    aside?.discard();
    if (cause instanceof HiError) throw cause;
    const isMissing = systemCode(cause) === 'ENOENT';
    const reason = isMissing ? `The folder '${dirname(target)}' does not exist` : systemReason(cause);
    const hint = isMissing ? 'Make it first (mkdir -p), or choose another path.' : 'Choose another path.';
    throw new HiError('usage', `Cannot write '${target}': ${reason}.`, { hint, cause });
  }
}
