import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { peakMemory } from '../support/peak-memory.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('a command with endless output', () => {
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
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const closed = once(child, 'close');
    const peak = await peakMemory(child.pid, closed);
    const [status] = await closed;
    expect([status, stdout]).toEqual([0, 'done\n']);
    expect(peak).toBeGreaterThan(process.platform === 'linux' ? 20 : -1);
    expect(peak).toBeLessThan(150);
  });
});
