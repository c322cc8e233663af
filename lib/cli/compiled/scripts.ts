import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

/** The scripts of the program, as the build writes them (`scripts/build/program.ts`). */
export interface Built {
  readonly folder: string;
  /** The file of each script, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A script that ran. V8 accepts the compiled form of a script on any Node, that of an ES module only from Node 22 on.
 */
export interface LoadedScript {
  readonly script: Script;
  /** Where its compiled form is kept. */
  readonly path: string;
  /** Whether this Node could use a stored compiled form. */
  readonly wasKept: boolean;
}

/**
 * What a run does most: the functions that it calls are those that its compiled form contains. More of them would only
 * take longer to read.
 */
export type Use = 'ask' | 'chat';

/** What a script evaluates to. */
type Main = (
  module: { exports: object },
  exports: object,
  require: (name: string) => object,
  folder: string,
  url: string,
) => object;

/** The program: one script with our code, and one for each package that not every run needs. */
export class Scripts {
  readonly #built: Built;
  readonly #loaded: LoadedScript[] = [];
  readonly #exports = new Map<string, object>();
  #kept: { readonly folder: string; readonly use: Use } | null = null;

  constructor(built: Built) {
    this.#built = built;
  }

  /** Sets the folder for compiled forms, and for what kind of run they are. */
  keepIn(folder: string, use: Use): void {
    this.#kept = { folder, use };
  }

  /**
   * The scripts to store when the run is over: all, as soon as one of them is new, for then functions were called that
   * no earlier run called. None where a stored one is gone: the user had the caches removed.
   */
  get toKeep(): readonly LoadedScript[] {
    const isNew = this.#loaded.some(({ wasKept }) => !wasKept);
    return isNew && this.#loaded.every(({ wasKept, path }) => !wasKept || existsSync(path)) ? this.#loaded : [];
  }

  /** What a script exports. It runs once. */
  get(name: string): object {
    const known = this.#exports.get(name);
    if (known !== undefined) return known;
    const file = this.#built.files[name];
    if (file === undefined) throw new Error(`'${name}' is not a script of the program.`);
    const path = join(this.#built.folder, file);
    const module = { exports: {} };
    const main = this.#compile(path);
    const url = pathToFileURL(path).href;
    const exported = main(module, module.exports, (other) => this.#require(other), this.#built.folder, url);
    this.#exports.set(name, exported);
    return exported;
  }

  #require(name: string): object {
    const found = Object.hasOwn(this.#built.files, name) ? this.get(name) : process.getBuiltinModule(name);
    if (found === undefined) throw new Error(`Cannot find module '${name}'`);
    return found;
  }

  #compile(filename: string): Main {
    const source = readFileSync(filename, 'latin1');
    const path = this.#kept === null ? null : join(this.#kept.folder, keptName(this.#kept.use, filename));
    const cachedData = path === null ? undefined : readKept(path);
    const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
    const wasKept = cachedData !== undefined && script.cachedDataRejected === false;
    if (path !== null) this.#loaded.push({ script, path, wasKept });
    return script.runInThisContext();
  }
}

declare const __HI_SCRIPTS__: Built | undefined;

/** Those of this program. None where it was not built from scripts: in the executable, and in specs. */
export const scripts = new Scripts(typeof __HI_SCRIPTS__ === 'undefined' ? { folder: '', files: {} } : __HI_SCRIPTS__);

/** The name of a script contains a hash of its content. Each version of Node needs its own compiled form. */
function keptName(use: Use, filename: string): string {
  return `${use}-${basename(filename, '.cjs')}-${process.version}-${process.arch}`;
}

/**
 * The compiled form from a file that only the user could write, if it is intact. V8 trusts whatever it is given, so the
 * file contains it twice: comparing the halves takes 0.1 ms, loading zlib for a checksum 2 ms.
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
