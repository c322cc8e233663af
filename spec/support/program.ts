import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ENTRY = process.env.HI_ENTRY;

/** Whether Node runs the program, with all that Node can tell about it. */
export const RUNS_ON_NODE = ENTRY === undefined;

/** The built program: `bin.hi` of package.json, or the executable that `HI_ENTRY` names. */
export const PROGRAM = ENTRY === undefined ? resolve(import.meta.dirname, '../../dist/hi.js') : resolve(ENTRY);

/** What the program is started by: Node, and `env` for an executable, which it becomes without a process of its own. */
export const RUNTIME = ENTRY === undefined ? process.execPath : '/usr/bin/env';

/**
 * Where all homes keep the compiled program: to compile it anew in each would take a third of the time of the specs.
 */
const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/hi-compiled');

/** One user's folders, empty but for the configuration, and an environment in which no key of the developer's is. */
export interface Home {
  readonly folder: string;
  readonly config: string;
  readonly data: string;
  readonly work: string;
  readonly historyFile: string;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file into the working folder. */
  write(path: string, text: string): void;
  /** Writes config.json as it is. */
  writeConfig(text: string): void;
  /** Takes the compiled program away that all homes share. */
  compileAnew(): void;
  remove(): void;
}

/** Makes a home in `parent`; `config` is what config.json holds, null for none. */
export function makeHome(config: unknown, parent = tmpdir()): Home {
  const folder = mkdtempSync(join(parent, 'hi-spec-'));
  const [configFolder, data, work] = ['config', 'data', 'work'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const cache = join(folder, 'cache');
  for (const made of [configFolder, work, cache]) mkdirSync(made);
  mkdirSync(COMPILED, { recursive: true });
  symlinkSync(COMPILED, join(cache, 'compiled'));
  const configFile = join(configFolder, 'config.json');
  const home: Home = {
    folder,
    config: configFolder,
    data,
    work,
    historyFile: join(data, 'history.json.zst'),
    configFile,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      TERM: 'xterm-256color',
      HI_CONFIG_DIR: configFolder,
      HI_DATA_DIR: data,
      HI_CACHE_DIR: cache,
      OLLAMA_HOST: 'http://127.0.0.1:9',
    },
    write: (path, text) => writeFileSync(join(work, path), text),
    writeConfig: (text) => writeFileSync(configFile, text, { mode: 0o600 }),
    compileAnew: () => rmSync(cache, { recursive: true }),
    remove: () => removeFolder(folder, 40),
  };
  if (config !== null) home.writeConfig(JSON.stringify(config));
  return home;
}

/** Removes a folder, again where a program that was stopped is still writing into it. */
function removeFolder(folder: string, tries: number): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (thrown) {
    if (tries === 0) throw thrown;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    removeFolder(folder, tries - 1);
  }
}

/** What a run of the program left. */
export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What is piped into stdin; nothing at all when absent, null for what `during` writes. */
  readonly input?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A command that runs the program, with its arguments: `straced(…)`, `elsewhere(…)`, or both. */
  readonly under?: readonly string[];
  /** Called with the process as soon as it runs. */
  readonly during?: (process: {
    kill(signal: NodeJS.Signals): void;
    onOutput(callback: (text: string) => void): void;
    onError(callback: (text: string) => void): void;
    write(text: string): void;
    /** Resolves when it has ended. */
    readonly ended: Promise<unknown>;
  }) => void;
}

/** Runs the built program without a terminal. */
export async function runProgram(home: Home, args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { under = [] } = options;
  const [command = '', ...rest] = [...under, RUNTIME, PROGRAM, ...args];
  const child = spawn(command, rest, {
    cwd: options.cwd ?? home.work,
    env: { ...home.env, ...options.env },
    // A group of its own, so that a signal reaches the program and not only what it runs under.
    detached: under.length > 0,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  if (options.input !== null) child.stdin?.end(options.input);
  const ended = once(child, 'close');
  options.during?.({
    ended,
    kill: (signal) => void (under.length > 0 && child.pid ? process.kill(-child.pid, signal) : child.kill(signal)),
    onOutput: (callback) => void child.stdout?.on('data', (chunk: Buffer) => callback(chunk.toString())),
    onError: (callback) => void child.stderr?.on('data', (chunk: Buffer) => callback(chunk.toString())),
    write: (text) => void child.stdin?.write(text),
  });
  const [status] = await ended;
  return { status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}
