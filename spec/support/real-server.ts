import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, homedir, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, parseObject } from '../../lib/chat/json.js';

/** The folder of the real servers: beside the project, or where `HI_REAL_SERVERS` says. It is no part of the project. */
export const REAL_SERVERS = resolve(
  process.env.HI_REAL_SERVERS ?? join(import.meta.dirname, '../../../shared/real-servers'),
);
const SERVE = join(REAL_SERVERS, 'serve.mjs');
const PRESENT = existsSync(SERVE);

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

/** The specs that need real servers; where there are none, one that says so, and a line on the screen. */
export function withRealServers(specs: () => void): void {
  if (PRESENT) {
    specs();
    afterAll(tellLate);
    return;
  }
  process.stdout.write(`No real servers at ${REAL_SERVERS}: these specs have nothing to talk to.\n`);
  describe('the real servers', () => {
    it('are not here, so nothing is asked of them', () => expect(PRESENT).toBe(false));
  });
}

/** Whether LiteLLM is installed here, or HI_LITELLM asks for it: installing it takes minutes. If not, a line on the screen. */
export function hasLiteLlm(): boolean {
  const cache = process.env.REAL_SERVERS_CACHE ?? join(homedir(), '.cache/real-servers');
  const isWanted = Boolean(process.env.HI_LITELLM) || existsSync(join(cache, 'litellm/ready'));
  if (!isWanted) process.stdout.write('Not tried: LiteLLM, which is not installed here (HI_LITELLM=1 installs it).\n');
  return isWanted;
}

/** When no further server is started, in milliseconds since 1970: continuous integration gives each file of specs HI_SERVERS_SECONDS. */
const UNTIL = Date.now() + 1000 * Number(process.env.HI_SERVERS_SECONDS ?? Number.POSITIVE_INFINITY);
const timeLeft = (): number => UNTIL - Date.now();

/** What there was no time for. */
const late: string[] = [];

function tellLate(): void {
  if (late.length === 0) return;
  const rest = late.length > 3 ? `, and ${late.length - 3} more` : '';
  process.stdout.write(
    `Not tried, for the time was over: ${late.slice(0, 3).join(', ')}${rest}. They count as passed. Without a bound: npm run test:servers.\n`,
  );
}

/** Ends a program when the time is over, which is no failure of the program. */
export function untilTimeIsOver() {
  let over = false;
  return {
    isOver: () => over,
    watch({ kill, ended }: { kill(signal: NodeJS.Signals): void; readonly ended: Promise<unknown> }): void {
      if (!Number.isFinite(UNTIL)) return;
      const stop = () => {
        over = true;
        process.stdout.write('Stopped in the middle, for the time was over: what was asked until then was right.\n');
        kill('SIGTERM');
      };
      const timer = setTimeout(stop, Math.max(0, timeLeft()));
      void ended.then(() => clearTimeout(timer));
    },
  };
}

/** Starts a server, `serve.mjs ARGS`. Null, and a line on the screen, when it cannot be had here, or when the time is over. */
export async function startRealServer(...args: readonly string[]): Promise<RealServer | null> {
  if (timeLeft() <= 0) {
    late.push(expect.getState().currentTestName ?? args.slice(0, 3).join(' '));
    return null;
  }
  const child = spawn(process.execPath, [SERVE, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const told = await firstLine(child);
  const server = told === null ? null : parseObject(told);
  if (isJsonObject(server) && typeof server.url === 'string') {
    const { url, model, key, log } = server;
    return {
      url,
      model: `${model}`,
      key: key === undefined ? null : `${key}`,
      log: `${log}`,
      [Symbol.asyncDispose]: () => stop(child),
    };
  }
  // A machine with too much to do is no reason to fail.
  if (child.exitCode !== NOT_HERE && !said.includes('time-out'))
    throw new Error(`'serve.mjs ${args.join(' ')}' ended with ${child.exitCode}: ${said}`);
  process.stdout.write(`Not tried, for it cannot be had here: ${args.join(' ')} (${said.trim()})\n`);
  return null;
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
