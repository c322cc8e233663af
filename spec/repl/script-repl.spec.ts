import { spawn } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bundle } from '../support/bundle.js';

let program = '';
beforeAll(async () => {
  program = await bundle('spec/support/repl-driver.ts');
});

function run(script: string): Promise<{ readonly out: string; readonly err: string; readonly status: number | null }> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  child.stderr.on('data', (bytes) => {
    err += bytes;
  });
  child.stdin.end(script);
  return new Promise((resolve) => child.on('close', (status) => resolve({ out, err, status })));
}

describe('the repl without a terminal', () => {
  it('sends each line as a turn, without prompt or colour', async () => {
    expect(await run('say one\n\nsay two\nsay three')).toEqual({ out: 'one\ntwo\nthree\n', err: '', status: 0 });
  });

  it('continues after an error and ends with its status', async () => {
    const { out, err, status } = await run('fail too busy\nsay on\n');
    expect(out).toBe('so far \non\n');
    expect(err).toBe('hi: too busy\n    Try again later.\n');
    expect(status).toBe(5);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends the turn and itself on %s', async (signal, status) => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.write('slow\n');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill(signal);
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(status);
  });

  it('ends if a command says so', async () => {
    expect((await run('say one\n/quit\nsay two\n')).out).toBe('one\n');
  });
});
