import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { itOnNode } from '../support/where.js';

/** What Node 22 and later have and Node 20 has not, as far as a start can tell: lazy globals. */
const NEWER_NODE = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.15.0' } });
for (const name of ['Headers', 'Response', 'ReadableStream', 'FormData']) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get() { process.stderr.write('loaded ' + name + '\\n'); return class {}; },
    set(value) {
      process.stderr.write('assigned ' + name + '\\n');
      Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
    },
  });
}
`;

describe('a start on a newer Node', () => {
  let server: ScriptedServer;
  let home: Home;
  let preload: string;

  beforeEach(async () => {
    server = await startScriptedServer(() => ({ text: 'Hello.' }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    preload = join(home.folder, 'newer-node.cjs');
    writeFileSync(preload, NEWER_NODE);
  });
  afterEach(async () => {
    await server.close();
    home.remove();
  });

  const hi = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> =>
    runProgram(home, args, { env: { NODE_OPTIONS: `--require=${preload}`, ...env } });

  itOnNode("replaces the globals of Node's fetch without loading them", async () => {
    const { stdout, stderr } = await hi(['ask', 'hello']);
    expect(stdout).toBe('Hello.\n');
    expect(stderr).not.toContain('loaded');
    expect(stderr.match(/assigned \w+/g)).toHaveLength(4);
  });

  itOnNode('keeps the compiled program in a folder of the cache that only the user can read', async () => {
    const cache = join(home.folder, 'cache');
    home.compileAnew();
    await hi(['ask', 'hello']);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(statSync(join(cache, 'compiled')).mode & 0o777).toBe(0o700);
  });

  itOnNode('answers --version without a cache', async () => {
    const { stdout, stderr } = await hi(['--version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(stderr).toBe('');
  });

  itOnNode('starts if the cache cannot be created', async () => {
    mkdirSync(home.data, { recursive: true });
    writeFileSync(join(home.folder, 'file'), '');
    const { status, stdout } = await hi(['ask', 'hello'], { HI_CACHE_DIR: join(home.folder, 'file') });
    expect([status, stdout]).toEqual([0, 'Hello.\n']);
  });
});
