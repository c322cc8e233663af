import type { Readable } from 'node:stream';
import yauzl from 'yauzl';
import { type SourceFile, Unreadable } from '../common/book-source.js';

/** How much more than its own size an archive may hold, and what it may hold in any case, in bytes: text shrinks to a fifth, and a bomb to a thousandth. */
const MOST_TIMES = 250;
const ANYWAY = 16 * 1024 * 1024;

/** Bits of a file's mode in an archive, from POSIX: what a symbolic link has. */
const KIND_BITS = 0o170000;
const LINK = 0o120000;

/** An open ZIP archive. Nothing of it is unpacked to the disk. */
export interface Archive {
  readonly files: readonly SourceFile[];
  close(): void;
}

/** Opens the archive at `path` by its central directory. `skipped` gets what is not read: links, and names that lead out of it. Throws `Unreadable`. */
export async function openArchive(path: string, skipped: (name: string, why: string) => void): Promise<Archive> {
  try {
    // Names are not opened as paths, and one that leads out must not end the reading of the rest.
    const archive = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false });
    const budget = new Budget(archive.fileSize);
    const files: SourceFile[] = [];
    for await (const entry of archive.eachEntry()) {
      const name = entry.fileNameRaw.toString();
      const why = refusal(name, entry);
      if (name.endsWith('/')) continue;
      if (why !== null) skipped(`${path}/${name}`, why);
      else
        files.push({
          path: `${path}/${name}`,
          size: entry.uncompressedSize,
          bytes: () => contentOf(archive, entry, budget),
        });
    }
    return { files, close: () => archive.close() };
  } catch (thrown) {
    throw unreadable(thrown);
  }
}

function refusal(name: string, entry: yauzl.Entry): string | null {
  if (/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(name)) return 'its name leads out of the archive';
  if (((entry.externalFileAttributes >>> 16) & KIND_BITS) === LINK) return 'it is a link';
  return entry.isEncrypted() ? 'it is encrypted' : null;
}

async function* contentOf(archive: yauzl.ZipFile, entry: yauzl.Entry, budget: Budget): AsyncGenerator<Buffer> {
  let stream: Readable | null = null;
  try {
    stream = await archive.openReadStreamPromise(entry);
    for await (const piece of stream) {
      budget.spend(piece.length);
      yield piece;
    }
  } catch (thrown) {
    throw unreadable(thrown);
  } finally {
    stream?.destroy();
  }
}

/** What may still be read of an archive. */
class Budget {
  #left: number;

  constructor(size: number) {
    this.#left = MOST_TIMES * size + ANYWAY;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new Unreadable(`the archive holds more than ${MOST_TIMES} times its size`);
  }
}

/** What yauzl or zlib threw. */
const unreadable = (thrown: unknown): unknown =>
  thrown instanceof Unreadable || !(thrown instanceof Error)
    ? thrown
    : new Unreadable(thrown.message, { cause: thrown });
