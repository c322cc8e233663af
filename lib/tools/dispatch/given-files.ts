import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileFormat } from '../../chat/media.js';
import { makeFolder } from '../../folder.js';
import type { GivenFile } from '../common/tool.js';
import { outputName } from '../shell/output-name.js';

/** Larger files are not sent to a model. */
const LARGEST = 20 * 1024 * 1024;

/** How many files from the calls of one answer are sent to the model. */
const MOST_FILES = 20;

/** The files that tools returned, each also written to disk for the user and later calls. */
export class GivenFiles {
  #files: GivenFile[] = [];

  /** Adds a file, and returns its description for the result. Without a folder it is not written. */
  take(mime: string, bytes: Uint8Array, folder: string | null): string {
    const format = fileFormat(bytes);
    const known = format?.isDamaged === false ? format.mime : null;
    const isSeen = known !== null && /^(?:image\/(?!heic)|audio\/)/.test(known);
    const isGiven = isSeen && bytes.length <= LARGEST && this.#files.length < MOST_FILES;
    if (isGiven) this.#files.push({ kind: known.startsWith('image/') ? 'image' : 'document', mime: known, bytes });
    const path = folder === null ? null : written(bytes, extensionOf(known ?? mime), folder);
    const where = path === null ? '' : `, in ${path}`;
    return `[${known ?? mime}, ${bytes.length} bytes${where}${isGiven ? '; shown below' : ''}]`;
  }

  /** The files since the last call of this method. */
  takeAll(): readonly GivenFile[] {
    return this.#files.splice(0);
  }
}

/** `image/svg+xml` is `svg`. */
function extensionOf(mime: string): string {
  const name = /\/(?:x-)?([a-z0-9]{1,5})/.exec(mime.toLowerCase())?.[1] ?? 'bin';
  return name === 'jpeg' ? 'jpg' : name;
}

/** Writes the file. Null if that fails: a full disk must not fail the call. */
function written(bytes: Uint8Array, extension: string, folder: string): string | null {
  try {
    makeFolder(folder, 0o700);
    const path = join(folder, `${outputName()}.${extension}`);
    writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return null;
  }
}
