import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

beforeEach(async () => {
  server = await startScriptedServer((_request, index) => ({ text: `answer ${index + 1}` }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

const chat = (...lines: readonly string[]) =>
  runProgram(home, ['chat', '-y'], { input: lines.map((line) => `${line}\n`).join('') });
const transcript = async () => (await runProgram(home, ['history'])).stdout;
const hasCopy = () => existsSync(join(home.data, 'history.reset.json.zst'));

describe('/reset', () => {
  it('-y clears without a question, also in a script', async () => {
    const run = await runProgram(home, ['chat'], { input: 'first question\n/reset -y\n/history\n' });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout).toMatch(/Cleared 2 messages\.[\s\S]*The conversation is empty\./);
    expect(hasCopy()).toBe(true);
  });

  it('--undo restores what the last reset cleared, and the next message continues it', async () => {
    await chat('first question', '/reset');
    expect(await transcript()).toBe('');
    const run = await chat('/reset --undo', 'second question');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout).toContain('Restored 2 messages.');
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/first question.*answer 1.*second question/);
    expect(await transcript()).toMatch(/first question[\s\S]*second question/);
  });

  it('names the command that undoes it in the chat, which restores what was cleared there', async () => {
    const run = await chat('first question', '/reset', '/reset --undo');
    expect(run.stdout).toContain("Cleared 2 messages. '/reset --undo' restores them.");
    expect(await transcript()).toContain('first question');
  });

  it('--undo without an earlier reset says so and changes nothing', async () => {
    const run = await chat('first question', '/reset --undo');
    expect(run.status).toBe(7);
    expect(run.stderr).toContain('There is no conversation to bring back');
    expect(await transcript()).toContain('first question');
  });

  it('--purge keeps no copy, not even of an earlier conversation, and removes the caches', async () => {
    home.compileAnew();
    await chat('first question', '/reset');
    expect(hasCopy()).toBe(true);
    const run = await chat('!seq 100000', 'second question', '/reset --purge');
    expect(run.stdout).toMatch(/Cleared \d messages\. No copy is kept\./);
    expect(hasCopy()).toBe(false);
    expect(existsSync(join(home.folder, 'cache')) ? readdirSync(join(home.folder, 'cache')) : []).toEqual([]);
    expect(await transcript()).toBe('');
    await chat('third question', '/reset');
    await chat('/reset --purge');
    expect(hasCopy()).toBe(false);
  });

  it.each(['--unod', 'undo', '--undo --purge', 'everything'])(
    '%s is refused with what is known, and clears nothing',
    async (argument) => {
      await chat('first question', '/reset', 'second question');
      const run = await chat(`/reset ${argument}`);
      expect(run).toMatchObject({ status: 2, stdout: '' });
      expect(run.stderr).toContain(`Unknown argument '${argument}' for /reset.`);
      expect(run.stderr).toContain('Known: --undo, --purge, --everywhere, -y.');
      expect(await transcript()).toContain('second question');
      expect(hasCopy()).toBe(true);
    },
  );

  it('with --ephemeral mentions no copy and leaves the conversation on disk alone', async () => {
    await chat('first question', '/reset', 'second question');
    const input = '/reset\n/reset --undo\n/reset --purge\n';
    const run = await runProgram(home, ['chat', '-y', '--ephemeral'], { input });
    expect(run.stdout).toBe('Cleared 2 messages.\n');
    expect(run.stderr).toContain('Cannot run /reset --undo with --ephemeral');
    expect(run.stderr).toContain('Cannot run /reset --purge with --ephemeral');
    expect(await transcript()).toContain('second question');
    expect(hasCopy()).toBe(true);
  });
});

describe('a slash command', () => {
  it.each([
    ['/compact --strategy truncate', '--strategy', 'hi compact --strategy truncate'],
    ['/history --json', '--json', 'hi history --json'],
    ['/status --json', '--json', 'hi status --json'],
    ['/skills --json', '--json', '/skills [name]'],
    ['/export --json out.json', '--json', '/export FILE'],
    ['/undo --all', '--all', '/undo'],
  ])('refuses an unknown option, and names the command that has it: %s', async (line, option, remedy) => {
    await chat('first question');
    const run = await chat(line);
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toContain(`has no option '${option}'.`);
    expect(run.stderr).toContain(remedy);
    expect(await transcript()).toContain('first question');
  });

  it.each(['/undo 2', '/tools bash', '/status now', '/quit please'])(
    'that takes no argument refuses one rather than do something else: %s',
    async (line) => {
      await chat('first question');
      const run = await chat(line);
      expect(run).toMatchObject({ status: 2, stdout: '' });
      expect(run.stderr).toContain('takes no argument');
      expect(await transcript()).toContain('first question');
    },
  );

  it('accepts words that begin with dashes as text', async () => {
    const run = await chat('what does --force do?', '/find --force', '/btw --force?');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout).toContain('1 message.');
    expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1))).toContain('--force?');
  });
});

describe('the command line', () => {
  it('refuses to search for blanks, like /find', async () => {
    await chat('first question');
    expect(await runProgram(home, ['history', '--find', ' '])).toMatchObject({ status: 2, stdout: '' });
  });

  it('names the copy that a reset kept in the status, and the command that restores it', async () => {
    await chat('first question', '/reset');
    const { stdout } = await runProgram(home, ['status']);
    expect(stdout).toMatch(/history\.reset\.json\.zst \(before the last reset; hi reset --undo restores it\)/);
  });

  it('lists the shells of hi completion and nothing else', async () => {
    const refused = await runProgram(home, ['completion', 'tcsh']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('Known: bash, fish, zsh.');
    const { stdout } = await runProgram(home, ['completion', 'words', '--', 'completion', '']);
    expect(stdout).toBe('bash\nzsh\nfish\n');
  });
});
