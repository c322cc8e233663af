import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Script } from 'node:vm';

/** A part of the program that runs as a script: V8 takes the compiled form of a script from its user, and that of an ES module only from Node 22 on. */
export interface LoadedScript {
  readonly script: Script;
  /** Where its compiled form is kept. */
  readonly path: string;
  /** False where nothing was kept that this Node could use. */
  readonly wasKept: boolean;
}

/** What the build knows of the parts (`scripts/build/compiled-parts.ts`). */
export interface Parts {
  /** The folder of the parts, and its address. Both end with a slash. */
  readonly folder: string;
  readonly url: string;
  /** The file of each part, by the name of the ES module in its place. */
  readonly files: Readonly<Record<string, string>>;
  /** Imports what is no part. */
  readonly load: (name: string) => Promise<object>;
}

/** A part as the build writes it. */
type Part = (
  module: { exports: object },
  require: (name: string) => object,
  url: string,
  load: (name: string) => Promise<object>,
) => object;

const NO_PARTS: Parts = {
  folder: '',
  url: '',
  files: {},
  load: () => Promise.reject(new Error('There are no parts.')),
};

/** The parts that run as scripts. A start finds them compiled, and reads no ES module but the first: each takes longer than all else that a small file does. */
export class Scripts {
  readonly #loaded: LoadedScript[] = [];
  readonly #exports = new Map<string, object>();
  #folder: string | null = null;
  #parts = NO_PARTS;

  /** Compiled forms are kept in that folder, null for nowhere. */
  keepIn(folder: string | null): void {
    this.#folder = folder;
  }

  use(parts: Parts): this {
    this.#parts = parts;
    return this;
  }

  /** What is to be kept when the run is over. Nothing where neither a chat nor an adapter ran: few functions were called then, and those that are not kept cost more later. */
  get toKeep(): readonly LoadedScript[] {
    const hasTalked = this.#loaded.some(({ path }) => !/^(?:core|shared)-/.test(basename(path)));
    return hasTalked ? this.#loaded.filter(({ wasKept }) => !wasKept) : [];
  }

  /** What the part exports that is in the place of this ES module; it runs once. */
  get(name: string): object {
    const known = this.#exports.get(name);
    if (known !== undefined) return known;
    const file = this.#parts.files[name];
    if (file === undefined) throw new Error(`'${name}' is no part.`);
    const url = this.#parts.url + basename(name);
    const exported = this.#compile(file)(
      { exports: {} },
      (other) => this.get(other),
      url,
      async (other) => (Object.hasOwn(this.#parts.files, other) ? this.get(other) : await this.#parts.load(other)),
    );
    this.#exports.set(name, exported);
    return exported;
  }

  #compile(file: string): Part {
    const filename = this.#parts.folder + file;
    const source = readFileSync(filename, 'latin1');
    const path = this.#folder === null ? null : join(this.#folder, keptName(file));
    const cachedData = path === null ? undefined : readKept(path);
    const { Script } = process.getBuiltinModule('node:vm');
    const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
    const wasKept = cachedData !== undefined && script.cachedDataRejected === false;
    if (path !== null) this.#loaded.push({ script, path, wasKept });
    return script.runInThisContext();
  }
}

export const scripts = new Scripts();

// The ES modules in the place of parts find them by this: to import `hi.js` they would wait for its end, and to share a file with it would cost a start.
Object.assign(globalThis, { [Symbol.for('hi.scripts')]: scripts });

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
