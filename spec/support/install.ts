import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { control, KEY, openTerminal } from './terminal.js';
import { openVendorHouse } from './vendor-house.js';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a program printed, stdout and stderr as they came, and its status. */
export interface Said {
  readonly status: number | null;
  readonly text: string;
}

/** Runs a program to its end. Resolves however it ends. */
export async function say(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = ROOT,
): Promise<Said> {
  const child = spawn(file, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => pieces.push(piece));
  const [status] = await once(child, 'close');
  return { status, text: Buffer.concat(pieces).toString() };
}

/** A machine with nothing of ours on it: an empty home, an empty place to install to, and one Node. */
export interface Machine {
  readonly env: Readonly<Record<string, string>>;
  readonly prefix: string;
  readonly home: string;
  /** The installed program. */
  readonly hi: string;
  /** What a command line begins with to run on it; nothing where it is this machine. */
  readonly under: readonly string[];
}

/** Runs a program of a machine to its end. Resolves however it ends. */
export async function sayOn(
  { under, env: own, home }: Machine,
  file: string,
  args: readonly string[],
  env = own,
): Promise<Said> {
  const [command = '', ...rest] = [...under, file, ...args];
  return await say(command, rest, env, under.length > 0 ? ROOT : home);
}

/** Makes one in an empty folder; `node` is the program of its Node. */
export function emptyMachine(folder: string, node: string): Machine {
  const [prefix, home] = [join(folder, 'prefix'), join(folder, 'home')];
  for (const path of [prefix, home]) mkdirSync(path, { recursive: true });
  const hi = join(prefix, 'bin', 'hi');
  const path = [dirname(node), dirname(hi), process.env.PATH].join(delimiter);
  const env = { PATH: path, HOME: home, TERM: 'xterm-256color', OLLAMA_HOST: 'http://127.0.0.1:9' };
  return { env, prefix, home, hi, under: [] };
}

/**
 * What of its user's surroundings `npm` needs to reach its registry: where its settings are, proxies and certificates.
 * `npm run` tells the former.
 */
export function npmSettings(): Readonly<Record<string, string>> {
  const wanted = /^(npm_config_(user|global)config|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
  const found = Object.entries(process.env).filter(([name]) => wanted.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name, value ?? '']));
}

/** The program of a version of Node, from npm's registry. Throws what npm said. */
export async function fetchNode(
  version: string,
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const place = join(folder, `node-${version}`);
  mkdirSync(place, { recursive: true });
  const args = ['install', '--no-save', '--prefix', place, `node@${version}`];
  const { status, text } = await say('npm', args, settings, folder);
  if (status !== 0) throw new Error(text);
  return join(place, 'node_modules', 'node', 'bin', 'node');
}

/**
 * Packs the package as it was built, and tells where the file is and its size in bytes. Throws what npm said when it
 * fails.
 */
export async function pack(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<{ file: string; bytes: number }> {
  const { status, text } = await say('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], env);
  const name = /^hi-chat-.*\.tgz$/m.exec(text)?.[0];
  if (status !== 0 || name === undefined) throw new Error(text);
  const file = join(folder, name);
  return { file, bytes: statSync(file).size };
}

/** The lines in which npm warns of our own package. */
export function warningsOfOurs({ text }: Said): readonly string[] {
  return text.split('\n').filter((line) => /warn/i.test(line) && line.includes('hi-chat'));
}

/** What a first conversation left on the screen. */
export interface FirstRun {
  readonly screen: string;
  readonly status: number;
}

/**
 * Holds the first conversation on a machine: the set-up with a vendor on this machine, one question, Ctrl-D. Rejects
 * with the screen when it does not come to it.
 */
export async function firstRun({ hi, env, home, under }: Machine): Promise<FirstRun> {
  await using house = await openVendorHouse('openai', { key: 'sk-first', text: 'Welcome.' });
  const [command = '', ...args] = [...under, hi];
  const cwd = under.length > 0 ? ROOT : home;
  const terminal = openTerminal(command, args, { env: { ...env, OPENAI_BASE_URL: house.base }, cwd, columns: 100 });
  try {
    for (const [question, answer] of [
      ['Which provider', ''],
      ['API key for OpenAI', 'sk-first'],
      ['Which model?', ''],
      [/^hi> *$/m, 'hello'],
    ] as const) {
      await terminal.until(question, 30_000);
      terminal.type(`${answer}${KEY.enter}`);
    }
    await terminal.until(/hello\n+Welcome\.\n+hi> *$/, 30_000);
    terminal.type(control('d'));
    const { status } = await terminal.exit();
    return { screen: terminal.screen(), status };
  } finally {
    await terminal.close();
  }
}
