import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, homedir, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { isJsonObject, parseObject } from '../../lib/chat/json.js';

/**
 * The folder of the real servers: beside the project, or where `HI_REAL_SERVERS` says. It is no part of the project.
 */
export const REAL_SERVERS = resolve(
  process.env.HI_REAL_SERVERS ?? join(import.meta.dirname, '../../../shared/real-servers'),
);
const SERVE = join(REAL_SERVERS, 'serve.mjs');

/** Two threads wait for each other in a loop: on a busy machine they take six times as long as one. */
export const THREADS = availableParallelism() - (loadavg()[0] ?? 0) > 0.5 ? 2 : 1;

/** A server that users run, with a small model, on this machine. */
export interface RealServer extends AsyncDisposable {
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** The file with what it says. */
  readonly log: string;
}

/** True where LiteLLM can be asked. Installing it takes minutes, so only HI_LITELLM does that. */
export function hasLiteLlm(): boolean {
  const cache = process.env.REAL_SERVERS_CACHE ?? join(homedir(), '.cache/real-servers');
  if (existsSync(join(cache, 'litellm/ready'))) return true;
  return Boolean(process.env.HI_LITELLM) && missing(['litellm']) === null;
}

/** Why a part of the real servers cannot be had here, in one line; null where it is there. Fetches it once. */
export function missing(part: readonly string[]): string | null {
  if (!existsSync(SERVE)) return `no real servers at ${REAL_SERVERS}`;
  const { status, stderr } = spawnSync(process.execPath, [SERVE, 'fetch', ...part], { encoding: 'utf8' });
  if (status === 0) return null;
  if (status === NOT_HERE) return stderr.trim().split('\n').at(-1) ?? '';
  throw new Error(`'serve.mjs fetch ${part.join(' ')}' ended with ${status}: ${stderr}`);
}

/** Starts a server, `serve.mjs ARGS`. */
export async function startRealServer(...args: readonly string[]): Promise<RealServer> {
  const child = spawn(process.execPath, [SERVE, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const told = await firstLine(child);
  const server = told === null ? null : parseObject(told);
  if (!isJsonObject(server) || typeof server.url !== 'string')
    throw new Error(`'serve.mjs ${args.join(' ')}' ended with ${child.exitCode}: ${said}`);
  const { url, model, key, log } = server;
  return {
    url,
    model: `${model}`,
    key: key === undefined ? null : `${key}`,
    log: `${log}`,
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** The exit status of `serve.mjs` where a part is missing. */
const NOT_HERE = 3;

/** Null when the process ends before it says anything. */
function firstLine(child: ChildProcess): Promise<string | null> {
  let text = '';
  return new Promise((done) => {
    child.stdout?.on('data', (piece) => {
      text += piece;
      if (text.includes('\n')) done(text.slice(0, text.indexOf('\n')));
    });
    child.on('close', () => done(null));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = new Promise((done) => child.on('close', done));
  child.kill('SIGTERM');
  await closed;
}
