import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

async function setUp(text: string): Promise<void> {
  server = await startScriptedServer(() => ({ pieces: text.match(/[\s\S]{1,3}/g) ?? [] }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
}

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('hi ask -x', () => {
  it('prints only the last code block, exactly as in the answer', async () => {
    await setUp('First:\n```sh\nls\n```\nThen:\n1. this\n   ```sh\n   cd x\n     pwd\n   ```\nDone.');
    expect(await hi(['ask', '-x', 'go'])).toMatchObject({ status: 0, stdout: 'cd x\n  pwd\n' });
    expect(await hi(['-x', '-p', 'go'])).toMatchObject({ status: 0, stdout: 'cd x\n  pwd\n' });
  });

  it('prints nothing and exits with 5 if there is no code, without losing the answer', async () => {
    await setUp('There is no code for that.');
    const run = await hi(['ask', '--extract', 'go']);
    expect(run).toMatchObject({ status: 5, stdout: '' });
    expect(run.stderr).toMatch(/^There is no code for that\.\nhi: The answer has no code block\.\n/);
  });

  it.each([[['--json']], [['--schema', 'name']], [['-o', 'stream-json']]])('refuses %j', async (more) => {
    await setUp('unused');
    const run = await hi(['ask', '-x', ...more, 'go']);
    expect(run.status).toBe(2);
    expect(run.stdout + run.stderr).toContain('cannot be used together');
    expect(server.requests).toHaveLength(0);
  });
});
