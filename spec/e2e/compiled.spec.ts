import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { type Home, makeHome, PROGRAM, type Run, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal } from '../support/terminal.js';
import { itOnNode } from '../support/where.js';

describe('the compiled form of the program', () => {
  let server: ScriptedServer;
  let home: Home;
  let answer: string;

  beforeEach(async () => {
    server = await startScriptedServer(() => ({ text: answer }));
    answer = 'Hello.';
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
      'ask-openai',
      'ask-program',
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

  itOnNode('is found where it is usually kept', async () => {
    const usual = { HI_DATA_DIR: '', HI_CACHE_DIR: '' };
    const stored = (): readonly string[] =>
      readdirSync(home.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\bask-program-[^/]+$/.test(name),
      );
    for (const _time of ['first', 'second']) {
      expect(await runProgram(home, ['ask', 'hello'], { env: usual })).toMatchObject({ status: 0, stdout: 'Hello.\n' });
      expect(stored()).toHaveLength(1);
    }
  });

  itOnNode('is stored again when a run needed a part that no earlier one did', async () => {
    await hi('ask', 'hello');
    const before = new Set(identities());
    answer = '{"greeting":"Hello."}';
    expect(await hi('ask', '--schema', '{"type":"object"}', 'hello')).toMatchObject({ status: 0 });
    const names = identities()
      .filter((one) => !before.has(one))
      .map((one) => one.replace(/^.*\/|-[0-9a-f]{16}-.*/g, ''));
    expect(names.sort()).toEqual(['ask-ajv', 'ask-commander', 'ask-openai', 'ask-program']);
  });

  itOnNode('is stored for a chat, too, and not changed by the next one', async () => {
    const start = async (): Promise<void> => {
      const terminal = openTerminal(process.execPath, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
      await terminal.until(/^hi> *$/m);
      terminal.type(control('d'));
      expect(await terminal.exit()).toMatchObject({ status: 0 });
    };
    await start();
    const before = identities();
    // The model's server is on this machine, and was asked about the model at the start.
    expect(before).toEqual([expect.stringContaining('chat-openai-'), expect.stringContaining('chat-program-')]);
    await start();
    expect(identities()).toEqual(before);
  });

  itOnNode('is created again if it is damaged', async () => {
    await hi('ask', 'hello');
    const [sdk = '', program = ''] = kept();
    const whole = readFileSync(program);
    const middle = whole.length >> 1;
    for (const damage of [
      whole.fill(0, middle - 1000, middle - 900),
      whole.subarray(0, middle - 1),
      Buffer.from('not compiled'),
      Buffer.alloc(0),
    ]) {
      for (const path of [sdk, program]) writeFileSync(path, damage);
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
