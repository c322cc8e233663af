import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { hiFile } from '../support/history-files.js';
import { type Home, makeHome, PROGRAM, type Run, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal } from '../support/terminal.js';
import { itOnNode } from '../support/where.js';

/** What Node's loader says of each ES module. */
const MODULE = /Translating StandardModule \S+/gi;

describe('the compiled form of the program', () => {
  let server: ScriptedServer;
  let home: Home;

  beforeEach(async () => {
    server = await startScriptedServer(() => ({ text: 'Hello.' }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    home.compileAnew();
  });
  afterEach(async () => {
    await server.close();
    home.remove();
  });

  const folder = (): string => join(home.folder, 'cache', 'compiled');
  const hi = (...args: readonly string[]): Promise<Run> => runProgram(home, args);
  const kept = (): readonly string[] =>
    readdirSync(folder())
      .filter((name) => name.endsWith(`-${process.version}-${process.arch}`))
      .map((name) => join(folder(), name));
  const identities = (): readonly string[] =>
    kept().map((path) => `${path} ${statSync(path).ino} ${statSync(path).mtimeMs}`);

  itOnNode('is stored by the first question, for the user alone, and not changed by the next one', async () => {
    await hi('ask', 'hello');
    expect(kept().map((path) => path.slice(folder().length + 1).replace(/-[0-9a-f]{16}-.*/, ''))).toEqual([
      'core',
      'openai-adapter',
    ]);
    expect(kept().map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    const before = identities();
    expect(await hi('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Hello.\n', stderr: '' });
    expect(identities()).toEqual(before);
  });

  itOnNode('is not stored by a command that asks no model', async () => {
    await hi('--version');
    await hi('status');
    expect(existsSync(folder()) ? kept() : []).toEqual([]);
  });

  const modulesOf = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> => {
    const { status, stderr } = await runProgram(home, args, { env: { ...env, NODE_DEBUG: 'esm' } });
    expect(status).toBe(0);
    return stderr.match(MODULE)?.length ?? 0;
  };

  itOnNode('is all that a question reads, without an ES module', async () => {
    await hi('ask', 'hello');
    expect(await modulesOf(['ask', 'hello'])).toBe(0);
    expect(await modulesOf(['status'])).toBeGreaterThan(0);
  });

  itOnNode('is all that a question reads, also where it looks for the usual folders', async () => {
    for (const usual of [{ HI_DATA_DIR: '' }, { HI_DATA_DIR: '', HI_CACHE_DIR: '' }]) {
      expect(await runProgram(home, ['status'], { env: usual })).toMatchObject({ status: 0 });
      if (usual.HI_CACHE_DIR === undefined) expect(existsSync(folder()) ? kept() : []).toEqual([]);
      await runProgram(home, ['ask', 'hello'], { env: usual });
      expect(await modulesOf(['ask', 'hello'], usual)).toBe(0);
    }
  });

  itOnNode('is all that a question reads in a long conversation, without an ES module', async () => {
    const { bytes } = await hiFile(120, 'tea');
    mkdirSync(dirname(home.historyFile), { recursive: true });
    writeFileSync(home.historyFile, bytes);
    await hi('ask', 'hello');
    expect(await modulesOf(['ask', 'hello'])).toBe(0);
  });

  itOnNode('is not needed for the version and the help, which read no ES module either', async () => {
    expect(await modulesOf(['--version'])).toBe(0);
    expect(await modulesOf(['--help'])).toBe(0);
  });

  itOnNode('is all that a chat reads before its prompt, without an ES module', async () => {
    const start = async (env: Readonly<Record<string, string>>): Promise<string> => {
      const options = { env: { ...home.env, ...env }, cwd: home.work, columns: 400 };
      const terminal = openTerminal(process.execPath, [PROGRAM, 'chat'], options);
      await terminal.until(/^hi> *$/m);
      const written = terminal.written();
      terminal.type(control('d'));
      expect(await terminal.exit()).toMatchObject({ status: 0 });
      return written;
    };
    await hi('ask', 'hello');
    await start({});
    const before = identities();
    expect(before.length).toBeGreaterThan(10);
    expect(await start({ NODE_DEBUG: 'esm' })).not.toMatch(MODULE);
    expect(identities()).toEqual(before);
  });

  itOnNode('does not include the validator of the configuration while `options` are empty', async () => {
    const read = async (settings: object): Promise<string> => {
      writeFileSync(home.configFile, JSON.stringify({ model: 'scripted', api_base: server.base, ...settings }));
      const { stdout, stderr } = await runProgram(home, ['status'], { env: { NODE_DEBUG: 'esm' } });
      expect(stdout).toContain('/scripted');
      return stderr;
    };
    for (const provider of ['openai', 'anthropic', 'gemini', 'ollama'])
      expect(await read({ provider, options: {} })).not.toContain('config-validator');
    expect(await read({ provider: 'openai', options: { temperature: 1 } })).toContain('config-validator');
    writeFileSync(home.configFile, JSON.stringify({ provider: 'openai', options: [] }));
    expect(await hi('status')).toMatchObject({ status: 3, stderr: expect.stringContaining('options') });
  });

  itOnNode('is created again if it is damaged', async () => {
    await hi('ask', 'hello');
    const [core = '', adapter = ''] = kept();
    const whole = readFileSync(core);
    const middle = whole.length >> 1;
    for (const damage of [
      whole.fill(0, middle - 1000, middle - 900),
      whole.subarray(0, middle - 1),
      Buffer.from('not compiled'),
      Buffer.alloc(0),
    ]) {
      for (const path of [core, adapter]) writeFileSync(path, damage);
      const before = identities();
      expect(await hi('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Hello.\n', stderr: '' });
      expect(identities()).not.toEqual(before);
    }
    const before = identities();
    await hi('ask', 'hello');
    expect(identities()).toEqual(before);
  });

  itOnNode('is not used if others could have written it', async () => {
    await hi('ask', 'hello');
    for (const path of kept()) {
      writeFileSync(path, '');
      chmodSync(path, 0o666);
    }
    expect(await hi('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Hello.\n', stderr: '' });
    expect(kept().map((path) => statSync(path).mode & 0o077)).toEqual([0, 0]);
  });
});
