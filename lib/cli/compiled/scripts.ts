import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';

/** A part of the program that runs as a script: V8 takes the compiled form of a script from its user, and that of an ES module only from Node 22 on. */
export interface LoadedScript {
  readonly script: Script;
  /** Where its compiled form is kept. */
  readonly path: string;
  /** False where nothing was kept that this Node could use. */
  readonly wasKept: boolean;
}

/** What a part needs from the ES module that stands for it. */
export interface Surroundings {
  readonly dirname: string;
  readonly url: string;
  /** The parts that it imports, by name. */
  readonly imported: Readonly<Record<string, object>>;
  /** Imports on demand. */
  readonly load: (name: string) => Promise<object>;
}

/** A part as `scripts/build/compiled-parts.ts` writes it. */
type Part = (
  module: { exports: object },
  require: (name: string) => object | undefined,
  url: string,
  load: Surroundings['load'],
) => object;

/** The parts that run as scripts. This file is all that a start reads to find them compiled, so it imports nothing of ours. */
export class Scripts {
  readonly #loaded: LoadedScript[] = [];
  #folder: string | null = null;

  /** Compiled forms are kept in that folder, null for nowhere. */
  keepIn(folder: string | null): void {
    this.#folder = folder;
  }

  /** What is to be kept when the run is over. Nothing where only the core ran: few of its functions were called then, and those that are not kept cost more later. */
  get toKeep(): readonly LoadedScript[] {
    return this.#loaded.length < 2 ? [] : this.#loaded.filter(({ wasKept }) => !wasKept);
  }

  /** Runs a part, and returns what it exports. */
  load(name: string, { dirname, url, imported, load }: Surroundings): object {
    const filename = join(dirname, name);
    const source = readFileSync(filename, 'latin1');
    const path = this.#folder === null ? null : join(this.#folder, keptName(name));
    const cachedData = path === null ? undefined : readKept(path);
    const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
    const wasKept = cachedData !== undefined && script.cachedDataRejected === false;
    if (path !== null) this.#loaded.push({ script, path, wasKept });
    const run: Part = script.runInThisContext();
    return run({ exports: {} }, (other) => imported[other], url, load);
  }
}

export const scripts = new Scripts();

/** The name of a part holds a hash of what is in it. Each Node compiles for itself. */
function keptName(name: string): string {
  return `${basename(name, '.cjs')}-${process.version}-${process.arch}`;
}

/**
 * The compiled form in a file that nobody but the user could write, where it is whole. V8 believes whatever it is given, so the file holds it twice: to compare
 * takes 0.1 ms, to load zlib for a checksum 2.
 */
function readKept(path: string): Buffer | undefined {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (
      !file?.isFile() ||
      file.size === 0 ||
      (file.mode & 0o022) !== 0 ||
      file.uid !== (process.getuid?.() ?? file.uid)
    )
      return undefined;
    const bytes = readFileSync(path);
    const half = bytes.subarray(0, bytes.length / 2);
    return half.equals(bytes.subarray(bytes.length / 2)) ? half : undefined;
  } catch {
    return undefined;
  }
}
