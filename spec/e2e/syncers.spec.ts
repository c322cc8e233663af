import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { itWhere } from '../support/where.js';

/** Each machine says something at the same moments. `HI_ROUNDS` raises how often. */
const ROUNDS = 2 * Number(process.env.HI_ROUNDS ?? 1);

let server: ScriptedServer;
let homes: readonly Home[];
const engines: ChildProcess[] = [];
beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'noted' }));
  const config = { provider: 'openai', model: 'scripted', api_base: server.base, recall: { auto: false } };
  homes = ['one', 'two', 'three'].map(() => makeHome(config));
});
afterEach(async () => {
  for (const engine of engines.splice(0)) engine.kill('SIGKILL');
  await server.close();
  for (const home of homes) home.remove();
});

const folderOf = (home: Home): string => join(home.folder, 'shared');

/** Waits until it is so, at most half a minute. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    expect(tries).toBeLessThan(120);
    await sleep(250);
  }
}

/** The machines share; `move` is what their syncer does now, if it does not run by itself. */
async function share(move: () => void): Promise<void> {
  const [first, ...others] = homes as [Home, ...Home[]];
  await runProgram(first, ['share', folderOf(first), '--name', 'm0']);
  const HI_SHARE_KEY = (await runProgram(first, ['share', '--key'])).stdout.trim();
  for (const [index, home] of others.entries()) {
    await until(() => {
      move();
      return existsSync(join(folderOf(home), 'hi-share.json'));
    });
    const joined = await runProgram(home, ['share', folderOf(home), '--name', `m${index + 1}`], {
      env: { HI_SHARE_KEY },
    });
    expect(joined.status).toBe(0);
  }
}

/** What all machines agree on. */
async function conversation(home: Home): Promise<readonly string[]> {
  await runProgram(home, ['share', 'sync']);
  const messages: readonly { content: readonly { clock?: true }[]; id?: number; turn?: number; from?: string }[] =
    JSON.parse((await runProgram(home, ['history', '--json'])).stdout);
  return messages
    .map(({ id: _id, turn: _turn, from: _from, ...message }) =>
      JSON.stringify({ ...message, content: message.content.filter((part) => part.clock !== true) }),
    )
    .sort();
}

async function talk(move: () => void): Promise<void> {
  await share(move);
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = homes.map(async (home, at) => await runProgram(home, ['ask', `turn ${round} of ${at}`]));
    for (const { status } of await Promise.all(asked)) expect(status).toBe(0);
    move();
  }
  await until(async () => {
    move();
    const all = await Promise.all(homes.map(conversation));
    return all.every((one) => one.length === 2 * 3 * ROUNDS && JSON.stringify(one) === JSON.stringify(all[0]));
  });
  for (const home of homes)
    expect(
      readdirSync(home.folder, { recursive: true, encoding: 'utf8' }).filter((name) => /conflict/.test(name)),
    ).toEqual([]);
}

it('three machines have one conversation through a git repository', async () => {
  const hub = join(homes[0]?.folder ?? '', 'hub.git');
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=hi', '-c', 'user.email=hi@example.org', ...args], {
      cwd,
      stdio: 'pipe',
    }).toString();
  git(homes[0]?.folder ?? '', 'init', '-q', '--bare', '-b', 'main', hub);
  for (const [index, home] of homes.entries()) {
    git(home.folder, 'clone', '-q', hub, folderOf(home));
    if (index > 0) continue;
    git(folderOf(home), 'checkout', '-q', '-b', 'main');
    git(folderOf(home), 'commit', '-q', '--allow-empty', '-m', 'begin');
    git(folderOf(home), 'push', '-q', 'origin', 'main');
  }
  await talk(() => {
    for (const home of homes) {
      const folder = folderOf(home);
      git(folder, 'add', '-A');
      if (git(folder, 'status', '--porcelain').trim() !== '') git(folder, 'commit', '-qm', 'turns');
      git(folder, 'pull', '-q', '--no-rebase', '--no-edit');
      git(folder, 'push', '-q');
    }
  });
}, 180_000);

itWhere(hasSyncthing(), 'Syncthing is not installed')(
  'three machines have one conversation through Syncthing',
  async () => {
    const ports = await Promise.all(homes.map(freePort));
    const ids = homes.map((home) => {
      syncthing(home, ['generate', `--home=${join(home.folder, 'st')}`]);
      return syncthing(home, [`--home=${join(home.folder, 'st')}`, '--device-id']).trim();
    });
    for (const [index, home] of homes.entries()) {
      mkdirSync(folderOf(home));
      writeFileSync(join(home.folder, 'st', 'config.xml'), settingsOf(folderOf(home), ids, ports, index));
      const args = ['serve', `--home=${join(home.folder, 'st')}`, '--no-browser', '--no-restart', '--no-upgrade'];
      engines.push(spawn('syncthing', args, { stdio: 'ignore', env: { ...home.env, STNOUPGRADE: '1' } }));
    }
    await talk(() => undefined);
  },
  180_000,
);

function hasSyncthing(): boolean {
  try {
    execFileSync('syncthing', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const syncthing = (home: Home, args: readonly string[]): string =>
  execFileSync('syncthing', args, {
    env: { ...home.env, STNOUPGRADE: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => probe.once('listening', done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** One folder with all devices, on loopback only. */
function settingsOf(path: string, ids: readonly string[], ports: readonly number[], own: number): string {
  const devices = ids.map(
    (id, at) => `<device id="${id}" name="m${at}"><address>tcp://127.0.0.1:${ports[at]}</address></device>`,
  );
  const off = ['globalAnnounceEnabled', 'localAnnounceEnabled', 'relaysEnabled', 'natEnabled', 'crashReportingEnabled'];
  return `<configuration version="36">
<folder id="s" path="${path}" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="1">${ids.map((id) => `<device id="${id}"></device>`).join('')}</folder>
${devices.join('')}<gui enabled="false"></gui><options><listenAddress>tcp://127.0.0.1:${ports[own]}</listenAddress>
${off.map((name) => `<${name}>false</${name}>`).join('')}<urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
<reconnectionIntervalS>1</reconnectionIntervalS></options></configuration>`;
}
