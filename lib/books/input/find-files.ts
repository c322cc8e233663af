import { createReadStream, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HiError, systemCode, systemReason } from '../../errors.js';
import { type Codec, decompressFrame, prepareCodec } from '../../history/file/codec.js';
import { Damaged, type Frame, frameAt, type ReadBytes } from '../../history/file/frames.js';
import { type SourceFile, Unreadable } from '../common/book-source.js';
import { type Archive, openArchive } from './archive.js';

/** How deep folders are searched. */
const DEEPEST = 16;

/** The size of a piece that is read at once. */
const PIECE = 1024 * 1024;

/** The first bytes of a ZIP archive, and of an empty one. */
const ZIP = /^504b(?:0304|0506)/;

/** The first bytes of a zstd frame. */
const ZSTD = '28b52ffd';

/** The largest compressed file that is read, in bytes, and the largest frame of one. */
const LARGEST_FILE = 64 * 1024 * 1024;
const LARGEST_FRAME = 256 * 1024 * 1024;

/** The files of one path that the user named: a file, an archive, or all in a folder, with the archives in it. */
export interface Export {
  readonly path: string;
  readonly files: readonly SourceFile[];
  /** The file whose name begins so, whatever its folder; null if there is none. */
  beside(prefix: string): SourceFile | null;
  close(): void;
}

/** Finds the files at a path. `skipped` gets what is not read, and why. Throws a `HiError` if there is nothing. */
export async function findFiles(path: string, skipped: (path: string, why: string) => void): Promise<Export> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw new HiError('usage', `There is no file or folder '${path}'.`, { hint: 'Check the path.' });
  const archives: Archive[] = [];
  const files: SourceFile[] = [];
  for (const file of filesBelow(path, skipped)) {
    const archive = (await isArchive(file)) ? await opened(file.path, skipped) : null;
    if (archive === null) files.push(file);
    else {
      archives.push(archive);
      for (const inside of archive.files) files.push(inside);
    }
  }
  return {
    path,
    files,
    beside: byBeginning(files),
    close: () => {
      for (const archive of archives) archive.close();
    },
  };
}

/** Finds a file by the beginning of its name. */
function byBeginning(files: readonly SourceFile[]): Export['beside'] {
  let sorted: readonly (readonly [name: string, file: SourceFile])[] | null = null;
  return (prefix) => {
    sorted ??= files
      .map((file) => [file.path.slice(file.path.lastIndexOf('/') + 1), file] as const)
      .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.[0] ?? '') < prefix) low = middle + 1;
      else high = middle;
    }
    const found = sorted[low];
    return found?.[0].startsWith(prefix) ? found[1] : null;
  };
}

async function opened(path: string, skipped: (path: string, why: string) => void): Promise<Archive | null> {
  try {
    return await openArchive(path, skipped);
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    skipped(path, thrown.message);
    return { files: [], close: () => undefined };
  }
}

async function isArchive(file: SourceFile): Promise<boolean> {
  try {
    for await (const piece of file.bytes()) return ZIP.test(piece.toString('hex', 0, 4));
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
  }
  return false;
}

/** The regular files at and below a path, by name, with numbers in their order. Links below it are not followed. */
function* filesBelow(path: string, skipped: (path: string, why: string) => void, depth = 0): Generator<SourceFile> {
  const found = depth === 0 ? statSync(path) : lstatSync(path);
  if (found.isSymbolicLink()) skipped(path, 'it is a link');
  else if (found.isFile()) yield fileAt(path, found.size);
  else if (!found.isDirectory()) skipped(path, 'it is not a file');
  else if (depth === DEEPEST) skipped(path, `it is more than ${DEEPEST} folders deep`);
  else for (const name of namesIn(path, skipped)) yield* filesBelow(join(path, name), skipped, depth + 1);
}

function namesIn(path: string, skipped: (path: string, why: string) => void): readonly string[] {
  try {
    return readdirSync(path).sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    skipped(path, systemReason(thrown));
    return [];
  }
}

/** A file of a folder. */
export function fileAt(path: string, size: number): SourceFile {
  return {
    path,
    size,
    async *bytes() {
      try {
        let isFirst = true;
        // A stream allocates a whole piece for the smallest file.
        const highWaterMark = Math.max(1, Math.min(PIECE, size));
        for await (const piece of createReadStream(path, { highWaterMark })) {
          const isPacked = isFirst && piece.toString('hex', 0, 4) === ZSTD;
          isFirst = false;
          if (isPacked) return yield* unpacked(path, size);
          yield piece;
        }
      } catch (thrown) {
        throw systemCode(thrown) === null ? thrown : new Unreadable(systemReason(thrown), { cause: thrown });
      }
    },
  };
}

/** The content of a file that is compressed with zstd, frame by frame. Throws `Unreadable`. */
async function* unpacked(path: string, size: number): AsyncGenerator<Buffer> {
  if (size > LARGEST_FILE) throw new Unreadable('the compressed file is too large');
  const codec = await prepareCodec();
  const bytes = readFileSync(path);
  const read: ReadBytes = (offset, length) => bytes.subarray(offset, offset + length);
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt(read, at, bytes.length);
    if (frame === null) throw new Unreadable('the compressed file is cut off or damaged');
    if (frame.content > LARGEST_FRAME) throw new Unreadable('the compressed file holds too much');
    at += frame.size;
    if (frame.kind === 'data') yield contentOf(codec, read, frame);
  }
}

function contentOf(codec: Codec, read: ReadBytes, frame: Frame): Buffer {
  try {
    return decompressFrame(codec, read, frame);
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    throw new Unreadable('the compressed file is damaged', { cause: thrown });
  }
}
