import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HiError } from '../../errors.js';

/** The file that a path typed into the chat names; no shell has replaced a `~` in it. */
export function fileNamed(path: string, cwd: string, home: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=\/)/, () => home),
  );
}

/** Writes a file aside and renames it, so that it is there whole or not at all. Throws a `HiError` of code `usage` naming the file. */
export async function writeFileWhole(target: string, chunks: AsyncIterable<string>): Promise<void> {
  const aside = `${target}.${process.pid}.new`;
  try {
    const file = await open(aside, 'w');
    try {
      for await (const chunk of chunks) await file.write(chunk);
    } finally {
      await file.close();
    }
    await rename(aside, target);
  } catch (cause) {
    await rm(aside, { force: true });
    if (cause instanceof HiError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HiError('usage', `Cannot write '${target}': ${reason}`, { hint: 'Choose another path.', cause });
  }
}
