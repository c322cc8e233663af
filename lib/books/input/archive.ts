import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import yauzl from 'yauzl';
import { type SourceFile, Unreadable } from '../common/book-source.js';

/**
 * How much more than its own size an archive, or a file in it, may hold: text shrinks to a fifth, and a bomb to a
 * thousandth.
 */
const MOST_TIMES = 250;

/** What they may hold in any case, in bytes. */
const ANYWAY = { archive: 16 * 1024 * 1024, file: 1024 * 1024 };

/** Bits of a file's mode in an archive, from POSIX: what a symbolic link has. */
const KIND_BITS = 0o170000;
const LINK = 0o120000;

/** An open ZIP archive. Nothing of it is unpacked to the disk. */
export interface Archive {
  readonly files: readonly SourceFile[];
  close(): void;
}

/**
 * Opens the archive at `path` by its central directory. `skipped` gets what is not read: links, and names that lead out
 * of it. Throws `Unreadable`.
 */
export async function openArchive(path: string, skipped: (name: string, why: string) => void): Promise<Archive> {
  try {
    // Names are not opened as paths, and one that leads out must not end the reading of the rest.
    const archive = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false });
    const budget = new Budget('archive', archive.fileSize);
    const files: SourceFile[] = [];
    for await (const entry of archive.eachEntry()) {
      const name = entry.fileNameRaw.toString();
      const why = refusal(name, entry);
      if (name.endsWith('/')) continue;
      if (why !== null) skipped(`${path}/${name}`, why);
      else files.push({ path: `${path}/${name}`, size: entry.uncompressedSize, bytes: reader(archive, entry, budget) });
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

/** Reads a file any number of times. One that holds too much is not read again, so that it costs the others nothing. */
function reader(archive: yauzl.ZipFile, entry: yauzl.Entry, shared: Budget): SourceFile['bytes'] {
  let tooMuch: Unreadable | null = null;
  return async function* () {
    if (tooMuch !== null) throw tooMuch;
    const own = new Budget('file', entry.compressedSize);
    let stream: Readable | null = null;
    let sum = 0;
    try {
      stream = await archive.openReadStreamPromise(entry);
      for await (const piece of stream) {
        tooMuch = own.spend(piece.length) ?? shared.spend(piece.length);
        if (tooMuch !== null) throw tooMuch;
        sum = crc32(piece, sum);
        yield piece;
      }
      if (sum !== entry.crc32) throw new Unreadable('its checksum in the archive does not fit, so it may be damaged');
    } catch (thrown) {
      throw unreadable(thrown);
    } finally {
      stream?.destroy();
    }
  };
}

/** What may still be read of an archive, or of a file in it. */
class Budget {
  readonly #of: 'archive' | 'file';
  #left: number;

  constructor(of: 'archive' | 'file', size: number) {
    this.#of = of;
    this.#left = MOST_TIMES * size + ANYWAY[of];
  }

  /** Why no more may be read; null if more may. */
  spend(bytes: number): Unreadable | null {
    this.#left -= bytes;
    return this.#left < 0 ? new Unreadable(`the ${this.#of} holds more than ${MOST_TIMES} times its size`) : null;
  }
}

/** What yauzl or zlib threw. */
const unreadable = (thrown: unknown): unknown =>
  thrown instanceof Unreadable || !(thrown instanceof Error)
    ? thrown
    : new Unreadable(thrown.message, { cause: thrown });
