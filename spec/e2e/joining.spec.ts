import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { zstd } from '../support/history.js';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;
beforeEach(async () => {
  server = await startScriptedServer((_request, index) => ({ text: `answer ${index}` }));
  home = makeHome(config());
});
afterEach(async () => {
  await server.close();
  home.remove();
});

const config = () => ({ provider: 'openai', model: 'scripted', api_base: server.base });
const hi = async (...args: readonly string[]): Promise<Run> => await runProgram(home, args);
const said = async (): Promise<readonly string[]> =>
  JSON.parse((await hi('history', '--json')).stdout)
    .filter(({ role }: { role?: string }) => role === 'user')
    .map(({ content }: { content: { text: string }[] }) => content.at(-1)?.text)
    .sort();

/** Three histories that go on differently after the same beginning; the last is in place. */
async function forked(): Promise<readonly string[]> {
  await hi('ask', 'beginning');
  const base = join(home.folder, 'base');
  copyFileSync(home.historyFile, base);
  const copies = ['one', 'two'].map((name) => join(home.folder, `${name}.json.zst`));
  for (const copy of copies) {
    copyFileSync(base, home.historyFile);
    await hi('ask', `only in ${copy.includes('one') ? 'one' : 'two'}`);
    copyFileSync(home.historyFile, copy);
  }
  copyFileSync(base, home.historyFile);
  await hi('ask', 'only here');
  return copies;
}

it('histories of this conversation are joined as often and in whatever order one likes, with the same turns', async () => {
  const copies = await forked();
  const whole = ['beginning', 'only here', 'only in one', 'only in two'];
  const first = await hi('import', ...copies);
  expect(first).toMatchObject({
    status: 0,
    stdout: 'one.json.zst: 2 turns; 1 is new.\ntwo.json.zst: 2 turns; 1 is new.\n',
  });
  expect(await said()).toEqual(whole);
  await hi('import', ...copies.toReversed(), ...copies);
  expect(await said()).toEqual(whole);
});

it('an answer whose question was forgotten, here or there, stays once, and the question away where it was forgotten', async () => {
  await hi('ask', 'beginning');
  await hi('ask', 'CANARY');
  const [whole, part] = ['whole', 'part'].map((name) => join(home.folder, `${name}.json.zst`)) as [string, string];
  copyFileSync(home.historyFile, whole);
  const answers = async (): Promise<number> => (await hi('history', '--json')).stdout.split('"assistant"').length - 1;
  await hi('forget', '#3', '--yes');
  copyFileSync(home.historyFile, part);
  expect((await hi('import', whole)).stdout).toBe('whole.json.zst: 2 turns; nothing is new.\n');
  expect([await said(), await answers()]).toEqual([['beginning'], 2]);
  copyFileSync(whole, home.historyFile);
  expect((await hi('import', part)).stdout).toBe('part.json.zst: 2 turns; nothing is new.\n');
  expect([await said(), await answers()]).toEqual([['CANARY', 'beginning'], 2]);
});

it('conflict copies are taken in and removed', async () => {
  const [one = '', two = ''] = await forked();
  const beside = join(home.data, 'history.json.sync-conflict-20261124-101112-ABCDEFG.zst');
  copyFileSync(one, beside);
  copyFileSync(two, join(home.data, 'history.json.zst~HEAD'));
  expect((await hi('import', '--conflicts', '--dry-run')).stdout.match(/1 would be new/g)).toHaveLength(2);
  expect(existsSync(beside)).toBe(true);
  expect((await hi('import', '--conflicts')).status).toBe(0);
  expect(existsSync(beside)).toBe(false);
  expect(await said()).toEqual(['beginning', 'only here', 'only in one', 'only in two']);
});

it("another person's history is taken in when that is said, and counts as foreign", async () => {
  const other = makeHome(config());
  await runProgram(other, ['ask', 'the CANARY is theirs']);
  const theirs = join(home.folder, 'theirs.json.zst');
  copyFileSync(other.historyFile, theirs);
  other.remove();
  await hi('ask', 'mine');
  const refused = await hi('import', theirs);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('--theirs');
  expect(await said()).toEqual(['mine']);
  expect((await hi('import', theirs, '--theirs')).status).toBe(0);
  const found: readonly { readonly source: string; readonly text: string }[] = JSON.parse(
    (await hi('recall', 'CANARY', '--json')).stdout,
  );
  expect(found.filter(({ text }) => text.includes('CANARY')).map(({ source }) => source)).toEqual(['foreign']);
  const stored = readFileSync(home.historyFile);
  await hi('import', theirs, '--theirs');
  expect(readFileSync(home.historyFile).equals(stored)).toBe(true);
});

it('a session of another program in zstd is a book, not a history', async () => {
  const line = (value: object): string => `${JSON.stringify({ timestamp: '2026-05-01T10:00:00.000Z', ...value })}\n`;
  const session = [
    line({ type: 'session_meta', payload: { id: '0196c2a0', cwd: '/', originator: 'codex_cli_rs' } }),
    line({ type: 'event_msg', payload: { type: 'user_message', message: 'where is the walrus' } }),
    line({
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'where is the walrus' }] },
    }),
  ];
  const path = join(home.folder, 'rollout-2026-05-01T10-00-00-0196c2a0.jsonl.zst');
  writeFileSync(path, zstd(Buffer.from(session.join(''))));
  expect(await hi('import', path)).toMatchObject({ status: 0, stdout: expect.stringContaining('codex') });
  expect(await said()).toEqual([]);
});
