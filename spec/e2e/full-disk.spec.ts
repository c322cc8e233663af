import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { empty, fill, itWithSmallDisk, smallDisk, unmountAll } from '../support/small-disk.js';

let server: ScriptedServer;
let home: Home;

/** An answer that takes pages of the disk, as any text but not as its compressed form. */
const ANSWER = prose(30_000, 7);

/**
 * A turn of four messages: the question, a call, its result, the answer. The result is too large for what is free as
 * well.
 */
const withTool = ({ messages }: SentRequest): Reply => {
  const called = messages.at(-1)?.role === 'tool';
  return called ? { text: ANSWER } : { text: ANSWER, calls: [{ name: 'read_file', args: { path: 'notes.txt' } }] };
};

async function setUp(): Promise<void> {
  server = await startScriptedServer(withTool);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  home.write('notes.txt', prose(20_000, 3));
}

const entriesOf = (path: string): readonly Entry[] => JSON.parse(execFileSync('zstd', ['-dc', path]).toString());

/** Runs `hi ask` where no file may be larger than so many kibibytes. */
async function runLimited(kibibytes: number, question: string): Promise<Run> {
  const limited = `ulimit -f ${kibibytes}; exec "$0" "$@"`;
  const child = spawn('bash', ['-c', limited, RUNTIME, PROGRAM, 'ask', question], {
    cwd: home.work,
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  const [status] = await once(child, 'close');
  return { status, stdout, stderr };
}

/**
 * What a run that could not write has to say, and what it leaves: everything that was there before, and what it could
 * still add.
 */
function expectRefused(run: Run, path: string, before: readonly Entry[], words: string): void {
  expect(run.status).toBe(7);
  expect(run.stderr).toContain(words);
  expect(run.stderr).toContain(path);
  expect(run.stderr).not.toMatch(/^\s+at /m);
  const after = existsSync(path) ? entriesOf(path) : [];
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.length - before.length).toBeLessThan(4);
}

/** How many of its messages a refused turn could write: those that the disk still had space for. */
const kinds = (path: string, before: readonly Entry[]): number =>
  existsSync(path) ? entriesOf(path).slice(before.length).filter(isMessage).length : 0;

afterEach(async () => {
  unmountAll();
  await server.close();
  home.remove();
});

// Many processes on what may be a busy machine.
jest.setTimeout(180_000);

describe('a turn on a full disk', () => {
  itWithSmallDisk('fails with 7 whichever write fails, shows the answer, and leaves the old file intact', async () => {
    const data = smallDisk(1024);
    await setUp();
    const path = join(data, 'history.json.zst');
    const env = { HI_DATA_DIR: data };
    const reached = new Set<number>();
    for (let free = 0; free < 24; free += 2) {
      const before = existsSync(path) ? entriesOf(path) : [];
      fill(data, free);
      const run = await runProgram(home, ['ask', `question ${free}`], { env });
      if (run.status === 0) {
        expect(entriesOf(path)).toHaveLength(before.length + 4);
      } else {
        expectRefused(run, path, before, 'The disk is full');
        reached.add(kinds(path, before));
        // What was answered before the write that failed was on the screen already.
        expect(run.stdout.split(ANSWER)).toHaveLength([1, 2, 2, 3][kinds(path, before)] ?? 0);
      }
      empty(data);
      const next = await runProgram(home, ['ask', 'there is space again'], { env });
      expect(next.status).toBe(0);
      expect(next.stderr).not.toContain('damaged');
      rmSync(path);
    }
    expect([...reached].sort()).toEqual([0, 1, 2, 3]);
  });

  it('behaves the same at a file size limit', async () => {
    await setUp();
    const reached = new Set<number>();
    for (let kibibytes = 0; kibibytes < 100; kibibytes += 8) {
      const run = await runLimited(kibibytes, 'question');
      if (run.status === 0) break;
      expectRefused(run, home.historyFile, [], 'the file size limit is reached');
      reached.add(kinds(home.historyFile, []));
      if (existsSync(home.historyFile)) expect(statSync(home.historyFile).size).toBeLessThanOrEqual(kibibytes * 1024);
      rmSync(home.historyFile, { force: true });
    }
    expect([...reached].sort()).toEqual([0, 1, 2, 3]);
  });
});
