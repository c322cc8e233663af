import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

afterEach(async () => {
  await server.close();
  home.remove();
});

/** The most memory that the process ever had, in MB, as Linux tells; 0 elsewhere. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

describe('a command that floods its output', () => {
  it.each([
    ['NUL', 'head -c 200000000 /dev/zero'],
    ['NUL and letters', "head -c 30000000 /dev/zero | tr '\\0' 'a' | sed 's/aaaaaaaa/a\\x00a/g'"],
    ['escape characters', "head -c 50000000 /dev/zero | tr '\\0' '\\033'"],
  ])('with %s takes little memory', async (_what, command) => {
    server = await startScriptedServer(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name: 'bash', args: { command } }] },
    );
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    const child = spawn(RUNTIME, [PROGRAM, 'ask', '-y', 'go'], {
      env: home.env,
      cwd: home.work,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let [stdout, peak] = ['', 0];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const watch = setInterval(() => {
      peak = Math.max(peak, peakOf(child.pid ?? 0));
    }, 20);
    const [status] = await once(child, 'close');
    clearInterval(watch);
    expect([status, stdout]).toEqual([0, 'done']);
    expect(peak).toBeGreaterThan(process.platform === 'linux' ? 20 : -1);
    expect(peak).toBeLessThan(150);
  });
});
