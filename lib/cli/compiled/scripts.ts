import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Script } from 'node:vm';

/** A part of the program that runs as a script: V8 accepts the compiled form of a script on any Node, that of an ES module only from Node 22 on. */
export interface LoadedScript {
  readonly script: Script;
  /** Where its compiled form is kept. */
  readonly path: string;
  /** Whether this Node could use a stored compiled form. */
  readonly wasKept: boolean;
}

/** The parts as the build lists them (`scripts/build/compiled-parts.ts`). */
export interface Parts {
  /** The folder of the parts, and its URL. Both end with a slash. */
  readonly folder: string;
  readonly url: string;
  /** The file of each part, by the name of the ES module that stands for it. */
  readonly files: Readonly<Record<string, string>>;
  /** Imports a module that is not a part. */
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

/** The parts that run as scripts. A start finds them compiled and reads no ES module: loading one takes longer than running it. */
export class Scripts {
  readonly #loaded: LoadedScript[] = [];
  readonly #exports = new Map<string, object>();
  #folder: string | null = null;
  #parts = NO_PARTS;

  /** Sets the folder for compiled forms; null for none. */
  keepIn(folder: string | null): void {
    this.#folder = folder;
  }

  use(parts: Parts): this {
    this.#parts = parts;
    return this;
  }

  /** The scripts to store when the run is over. None if neither a chat nor an adapter ran: too few functions were called, and compiling the others later costs more. */
  get toKeep(): readonly LoadedScript[] {
    const hasTalked = this.#loaded.some(({ path }) => !/^(?:core|shared|env-paths)-/.test(basename(path)));
    return hasTalked ? this.#loaded.filter(({ wasKept }) => !wasKept) : [];
  }

  /** The exports of the part that this ES module stands for. It runs once. */
  get(name: string): object {
    const known = this.#exports.get(name);
    if (known !== undefined) return known;
    const file = this.#parts.files[name];
    if (file === undefined) throw new Error(`'${name}' is not a part.`);
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

// The ES modules that stand for parts find them here: `hi.js` exports nothing, and a shared file would slow every start.
Object.assign(globalThis, { [Symbol.for('hi.scripts')]: scripts });

/** The name of a part contains a hash of its content. Each version of Node needs its own compiled form. */
function keptName(name: string): string {
  return `${basename(name, '.cjs')}-${process.version}-${process.arch}`;
}

/**
 * The compiled form from a file that only the user could write, if it is intact. V8 trusts whatever it is given, so the file contains it twice: comparing the
 * halves takes 0.1 ms, loading zlib for a checksum 2 ms.
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
