import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { HiError } from '../../errors.js';
import { AsideFile } from '../../write-aside.js';

/** The file that a path typed into the chat names; no shell has replaced a `~` in it. */
export function expandPath(path: string, cwd: string, home: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=\/)/, () => home),
  );
}

/** Writes a file aside and renames it, so that it is there whole or not at all; a link is followed. Throws a `HiError` of code `usage` naming the file. */
export async function writeFileAtomically(target: string, chunks: AsyncIterable<string>): Promise<void> {
  let aside: AsideFile | null = null;
  try {
    aside = new AsideFile(target, { mode: 0o666 });
    for await (const chunk of chunks) writeFileSync(aside.descriptor, chunk);
    aside.commit(false);
  } catch (cause) {
    aside?.discard();
    if (cause instanceof HiError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HiError('usage', `Cannot write '${target}': ${reason}`, { hint: 'Choose another path.', cause });
  }
}
