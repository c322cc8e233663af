import { constants, type Dirent } from 'node:fs';
import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HiError, systemCode } from '../../errors.js';
import { type JudgedPlace, judgedPlace } from '../../permission/paths/resolve-path.js';
import type { FolderEntry, JudgedFile } from '../common/tool.js';
import { openJudged } from './open-judged.js';
import { replaceFile } from './replace-file.js';

/** See `JudgedFile`. */
export class OpenableFile implements JudgedFile {
  readonly #place: JudgedPlace;
  readonly #named: string;

  /** `named`: the path as the call has it, for messages. */
  constructor(place: JudgedPlace, named: string) {
    this.#place = place;
    this.#named = named;
  }

  /** What is at an absolute path now, for a preview. */
  static async at(path: string, named: string): Promise<OpenableFile> {
    return new OpenableFile(await judgedPlace(path, '/'), named);
  }

  async open(): Promise<FileHandle> {
    return await openJudged(this.#place, constants.O_RDONLY).catch((failure) => this.#explain(failure, 'read'));
  }

  async bytes(): Promise<Buffer> {
    const file = await this.open();
    try {
      return await file.readFile();
    } catch (failure) {
      return this.#explain(failure, 'read');
    } finally {
      await file.close();
    }
  }

  async list(): Promise<readonly FolderEntry[]> {
    const entries = await this.#entries().catch((failure) => this.#explain(failure, 'list'));
    return entries.map((entry) => ({ name: entry.name, isFolder: () => this.#isFolder(entry) }));
  }

  async namesBeside(): Promise<readonly string[]> {
    return await readdir(dirname(this.#place.path)).catch(() => []);
  }

  async replace(content: string | Uint8Array): Promise<boolean> {
    return await replaceFile(this.#place, content);
  }

  async #entries(): Promise<Dirent[]> {
    const folder = await openJudged(this.#place, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const path = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : this.#place.path;
      return await readdir(path, { withFileTypes: true });
    } finally {
      await folder.close();
    }
  }

  async #isFolder(entry: Dirent): Promise<boolean> {
    if (!entry.isSymbolicLink()) return entry.isDirectory();
    const found = await stat(join(this.#place.path, entry.name)).catch(() => null);
    return found?.isDirectory() ?? false;
  }

  #explain(failure: unknown, verb: 'read' | 'list'): never {
    const why = {
      ENOENT: `There is no ${verb === 'list' ? 'folder' : 'file'} '${this.#named}'.`,
      ENOTDIR: `'${this.#named}' is a file.`,
      EISDIR: `'${this.#named}' is a folder.`,
      EACCES: `Cannot ${verb} '${this.#named}': permission denied.`,
      EPERM: `Cannot ${verb} '${this.#named}': permission denied.`,
    }[systemCode(failure) ?? ''];
    throw why === undefined ? failure : new HiError('usage', why, { cause: failure });
  }
}
