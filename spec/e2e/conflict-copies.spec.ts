import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const NAMES = [
  'history.json.sync-conflict-20261124-101112-ABCDEFG.zst',
  "history.json (Bob's conflicted copy 2026-11-24).zst",
  'history.json.zst~HEAD',
];

let server: ScriptedServer;
let home: Home;
beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'noted' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

const hi = (...args: readonly string[]) => runProgram(home, args);
const stored = (path: string): string => execFileSync('zstd', ['-dcq', '-'], { input: readFileSync(path) }).toString();
const copies = (): readonly string[] => NAMES.map((name) => join(home.data, name)).filter((path) => existsSync(path));

/** A conversation with a copy of each name, in which something else was said after the same beginning. */
async function fork(): Promise<void> {
  await hi('ask', 'said before');
  const base = join(home.folder, 'base');
  copyFileSync(home.historyFile, base);
  await hi('ask', 'said elsewhere of herons');
  for (const name of NAMES) copyFileSync(home.historyFile, join(home.data, name));
  copyFileSync(base, home.historyFile);
  await hi('ask', 'said here');
}

it('a conflict copy is reported, reached by forget, and purged', async () => {
  await fork();
  writeFileSync(join(home.data, 'history.json.zst~'), 'a backup of an editor');
  const { files } = JSON.parse((await hi('status', '--json')).stdout);
  expect(files.toSorted()).toEqual([home.historyFile, ...copies()].sort());
  expect((await hi('status')).stdout.match(/\(a conflict copy: /g)).toHaveLength(NAMES.length);
  const check = await hi('config', 'check');
  expect(check.stdout.match(/is a conflict copy: .* run: cat /g)).toHaveLength(NAMES.length);
  const forgot = await hi('forget', '-y', 'herons');
  expect(forgot.status).toBe(0);
  for (const path of copies()) expect(stored(path)).toMatch(/said before(?![\s\S]*herons)/);
  expect(stored(home.historyFile)).toContain('said here');
  expect(copies()).toHaveLength(NAMES.length);
  await hi('reset', '-y', '--purge');
  expect(readdirSync(home.data).filter((name) => name.startsWith('history.json'))).toEqual(['history.json.zst~']);
});

it('a conflict copy that is joined as the check says adds what only it has, once', async () => {
  await fork();
  const [command = ''] = /(?<=run: )cat .*/.exec((await hi('config', 'check')).stdout) ?? [];
  const again = command.replace(/ && rm .*/, '');
  for (const line of [again, again]) {
    execFileSync('sh', ['-c', line]);
    await hi('history');
    await hi('ask', '-q', `after joining`);
  }
  const all = JSON.parse(stored(home.historyFile)) as readonly { readonly role?: string; readonly content: unknown }[];
  const said = all.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
  for (const text of ['said before', 'said elsewhere of herons', 'said here'])
    expect(said.filter((one) => one.includes(text))).toHaveLength(1);
  expect(said.filter((one) => one.includes('after joining'))).toHaveLength(2);
});
