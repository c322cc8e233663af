import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readServers } from '../../../lib/mcp/base/server-entry.js';
import { ServerConnection } from '../../../lib/mcp/connection/server-connection.js';
import { type ToolServer, textTool, toolServer } from '../../support/tool-server.js';

const MINUTE = 60_000;
const LIMITS = { silence: 60 * MINUTE, signal: new AbortController().signal, progress: () => {} };

let folder: string;
let server: ToolServer;
let connection: ServerConnection;

// The clock of what waits in hi; the server and the system have their own.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
  });
  folder = mkdtempSync(join(tmpdir(), 'hi-spec-'));
  server = toolServer(folder, 'notes', { tools: [textTool('add')], results: { slow: { hangs: true } } });
  const [entry] = readServers({ notes: server.entry }, MINUTE).entries;
  if (entry === undefined) throw new Error('no entry');
  connection = new ServerConnection(entry, deps(), null);
});

afterEach(async () => {
  jest.useRealTimers();
  await connection.close();
  rmSync(folder, { recursive: true, force: true });
});

const deps = () => ({
  values: { env: process.env, run: async () => '' },
  allow: () => {},
  confine: () => Promise.reject(new Error('not asked for')),
  cwd: folder,
  home: folder,
  version: '0',
  logs: folder,
  logins: folder,
  exclusively: <Result>(_folder: string, _name: string, work: () => Promise<Result>): Promise<Result> => work(),
});

const call = async (tool = 'add'): Promise<unknown> => await connection.call(tool, { text: 'milk' }, LIMITS);

function isThere(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits, by the system's clock, until none of the servers that were started runs. */
async function untilNoneRuns(): Promise<void> {
  for (let count = 0; server.starts().some(({ pid }) => isThere(pid)); count += 1) {
    if (count > 200) throw new Error('a server still runs');
    await sleep(25);
  }
}

describe('a server that is not called', () => {
  it('is ended after ten minutes, and started again by the next call', async () => {
    await call();
    jest.advanceTimersByTime(10 * MINUTE - 1);
    expect(connection.isRunning).toBe(true);
    jest.advanceTimersByTime(1);
    expect(connection.isRunning).toBe(false);
    await untilNoneRuns();
    await call();
    expect(server.starts()).toHaveLength(2);
  });

  it('stays for less, and the time starts over with each call', async () => {
    for (let count = 0; count < 3; count += 1) {
      await call();
      jest.advanceTimersByTime(9 * MINUTE);
    }
    expect(connection.isRunning).toBe(true);
    expect(server.starts()).toHaveLength(1);
  });

  it('stays while it works on an earlier call', async () => {
    await call();
    const slow = call('slow').catch(String);
    while (!server.requests().some(({ params }) => params?.name === 'slow')) await sleep(20);
    await call();
    jest.advanceTimersByTime(11 * MINUTE);
    expect(connection.isRunning).toBe(true);
    await connection.close();
    expect(await slow).toContain("The server 'notes'");
  });
});
