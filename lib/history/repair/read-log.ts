import { existsSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import { loadCodec } from '../file/frames/codec.js';
import { ArrayFile } from './array-file.js';

/** Every entry of the log at `path`, oldest first, read on demand; none if the file is missing. Throws `Damaged` and system errors. */
export function* readLog(path: string): Generator<Entry> {
  if (!existsSync(path)) return;
  const file = ArrayFile.open(loadCodec(), path, false);
  try {
    for (const entries of file.all()) yield* entries;
  } finally {
    file.close();
  }
}
