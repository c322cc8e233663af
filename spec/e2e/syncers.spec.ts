import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { parseObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { itWhere } from '../support/where.js';

/**
 * All machines say something at the same moments. `HI_ROUNDS=33` makes it 200 turns, with one machine offline for the
 * second third.
 */
const ROUNDS = 2 * Number(process.env.HI_ROUNDS ?? 1);
const FEW = process.env.HI_ROUNDS === undefined ? 1 : ROUNDS;
const TIMEOUT = 180_000 + 10_000 * ROUNDS;

/** Started by its whole path, which it asks for. */
const SSHD = '/usr/sbin/sshd';

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

/** Waits until it is so, at most a minute. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    expect(tries).toBeLessThan(240);
    await sleep(250);
  }
}

/** Brings what is in the folder of a machine to the others, and what is in theirs to it. */
type Move = (home: Home) => Promise<void>;

/**
 * The block of the page that begins with that program, as what each machine runs on a timer; `env` is for all of them.
 */
function recipe(program: string, env: Readonly<Record<string, string>>): Move {
  const page = readFileSync(join(import.meta.dirname, '../../docs/several-machines.md'), 'utf8');
  const [, commands = ''] = new RegExp(`\n\`\`\`sh\n(${program} [^\`]*)\`\`\``).exec(page) ?? [];
  expect(commands).not.toBe('');
  return async (home) => {
    const folder = folderOf(home);
    const { id = '' } = parseObject(textIn(join(home.data, 'share.machine'))) ?? {};
    const all = { ...home.env, ...env, folder, id: String(id) };
    // What fails, as two machines push at once or one has nothing to send yet, is done the next time.
    await new Promise((done) => {
      spawn('bash', ['-c', commands], { cwd: folder, env: all, stdio: 'ignore' }).on('close', done);
    });
  };
}

const textIn = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** The machines share; `fetch` is what brings the folder to one that joins. */
async function share(move: Move, fetch: Move): Promise<void> {
  const [first, ...others] = homes as [Home, ...Home[]];
  expect(await runProgram(first, ['share', folderOf(first), '--name', 'm0'])).toMatchObject({ status: 0 });
  const HI_SHARE_KEY = (await runProgram(first, ['share', '--key'])).stdout.trim();
  await move(first);
  for (const [index, home] of others.entries()) {
    await until(async () => {
      await fetch(home);
      return existsSync(join(folderOf(home), 'hi-share.json'));
    });
    const joined = await runProgram(home, ['share', folderOf(home), '--name', `m${index + 1}`], {
      env: { HI_SHARE_KEY },
    });
    expect(joined.status).toBe(0);
  }
}

/** The names of what is shared, as far as it is in the folder of this machine. */
function filesOf(home: Home): string {
  const names = readdirSync(folderOf(home), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.hi'))
    .sort()
    .join('\n');
}

/** What all machines agree on. */
async function conversation(home: Home): Promise<readonly string[]> {
  const messages: readonly { content: readonly { clock?: true }[]; id?: number; turn?: number; from?: string }[] =
    JSON.parse((await runProgram(home, ['history', '--json'])).stdout);
  return messages
    .map(({ id: _id, turn: _turn, from: _from, ...message }) =>
      JSON.stringify({ ...message, content: message.content.filter((part) => part.clock !== true) }),
    )
    .sort();
}

async function talk(move: Move, { fetch = move, rounds = ROUNDS } = {}): Promise<void> {
  await share(move, fetch);
  for (let round = 0; round < rounds; round += 1) {
    const asked = homes.map(async (home, at) => await runProgram(home, ['ask', `turn ${round} of ${at}`]));
    for (const { status } of await Promise.all(asked)) expect(status).toBe(0);
    const isApart = round >= rounds / 3 && round < (2 * rounds) / 3;
    for (const home of isApart ? homes.slice(1) : homes) await move(home);
  }
  const last = performance.now();
  await until(async () => {
    for (const home of homes) await move(home);
    // Nobody needs to be asked while a file is on its way.
    if (new Set(homes.map(filesOf)).size > 1) return false;
    const all = await Promise.all(homes.map(conversation));
    return all.every((one) => one.length === 2 * 3 * rounds && JSON.stringify(one) === JSON.stringify(all[0]));
  });
  if (process.env.HI_ROUNDS !== undefined)
    process.stderr.write(
      `All ${3 * rounds} turns were everywhere ${Math.round(performance.now() - last)} ms after the last.\n`,
    );
  for (const home of homes)
    expect(
      readdirSync(home.folder, { recursive: true, encoding: 'utf8' }).filter((name) => /conflict/.test(name)),
    ).toEqual([]);
}

/** Makes the folder of each machine a clone of one repository. */
function cloneForAll(): Move {
  const { folder } = homes[0] as Home;
  const hub = join(folder, 'hub.git');
  const names = { GIT_AUTHOR_NAME: 'hi', GIT_AUTHOR_EMAIL: 'hi@example.org' };
  const env = { ...names, GIT_COMMITTER_NAME: 'hi', GIT_COMMITTER_EMAIL: 'hi@example.org' };
  const git = (cwd: string, ...args: readonly string[]): void =>
    void execFileSync('git', args, { cwd, stdio: 'pipe', env: { ...process.env, ...env } });
  git(folder, 'init', '-q', '--bare', '-b', 'main', hub);
  for (const [index, home] of homes.entries()) {
    git(home.folder, 'clone', '-q', hub, folderOf(home));
    if (index > 0) continue;
    git(folderOf(home), 'checkout', '-q', '-b', 'main');
    git(folderOf(home), 'commit', '-q', '--allow-empty', '-m', 'begin');
    git(folderOf(home), 'push', '-q', 'origin', 'main');
  }
  return recipe('git', env);
}

it(
  'three machines have one conversation through a git repository, which a turn makes little larger',
  async () => {
    const move = cloneForAll();
    await talk(move);
    const [first] = homes as [Home];
    const before = filledBy(folderOf(first));
    for (let turn = 0; turn < 4; turn += 1) {
      await runProgram(first, ['ask', `alone ${turn}`]);
      await move(first);
    }
    expect((filledBy(folderOf(first)) - before) / 4).toBeLessThanOrEqual(30_000);
  },
  TIMEOUT,
);

/** What the objects of a repository fill on a disk with blocks of 4096 bytes. */
function filledBy(folder: string): number {
  const objects = readdirSync(join(folder, '.git', 'objects'), { recursive: true, withFileTypes: true });
  const sizes = objects
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
  return sizes.reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0);
}

itWhere(runs('syncthing', '--version'), 'Syncthing is not installed')(
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
    await talk(async () => undefined);
  },
  TIMEOUT,
);

itWhere(
  runs('rsync', '--version') && existsSync(SSHD) && runs('unshare', '-m', 'true'),
  'there is no rsync, or no SSH server',
)(
  'three machines have one conversation through rsync and an SSH server',
  async () => {
    const { folder } = homes[0] as Home;
    const port = await freePort();
    const [store, key, hostKey, settings] = ['store', 'key', 'host-key', 'ssh'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
      string,
    ];
    mkdirSync(store);
    for (const path of [key, hostKey]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
    const own = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${key}.pub`,
      'PidFile none',
    ];
    const rules = [
      'StrictModes no',
      'UsePAM no',
      `SetEnv HOME=${store}`,
      'ForceCommand cd && eval "$SSH_ORIGINAL_COMMAND"',
    ];
    writeFileSync(`${settings}d`, [...own, ...rules, ''].join('\n'));
    const host = ['Host server', 'HostName 127.0.0.1', `Port ${port}`, `IdentityFile ${key}`, 'IdentitiesOnly yes'];
    const trust = ['StrictHostKeyChecking no', `UserKnownHostsFile ${settings}-known`, 'BatchMode yes'];
    writeFileSync(settings, [...host, ...trust, ''].join('\n'));
    // It wants a folder that only a running system has.
    const command = `mount -t tmpfs none /run && mkdir /run/sshd; exec ${SSHD} -D -f ${settings}d`;
    engines.push(spawn('unshare', ['-m', 'sh', '-c', command], { stdio: 'ignore' }));
    const RSYNC_RSH = `ssh -F ${settings}`;
    const fetch = async (home: Home): Promise<void> => {
      spawnSync('rsync', ['-a', 'server:hi/', `${folderOf(home)}/`], { env: { ...home.env, RSYNC_RSH } });
    };
    await talk(recipe('rsync', { RSYNC_RSH }), { fetch, rounds: FEW });
  },
  TIMEOUT,
);

itWhere(runs('rclone', 'version'), 'rclone is not installed')(
  'three machines have one conversation through rclone and a WebDAV server',
  async () => {
    const { folder } = homes[0] as Home;
    const [store, port] = [join(folder, 'store'), await freePort()];
    mkdirSync(store);
    const env = {
      RCLONE_CONFIG: join(folder, 'rclone.conf'),
      RCLONE_CONFIG_CLOUD_TYPE: 'webdav',
      RCLONE_CONFIG_CLOUD_URL: `http://127.0.0.1:${port}`,
      RCLONE_CONFIG_CLOUD_VENDOR: 'other',
    };
    const all = { ...homes[0]?.env, ...env };
    engines.push(
      spawn('rclone', ['serve', 'webdav', store, '--addr', `127.0.0.1:${port}`], { stdio: 'ignore', env: all }),
    );
    const fetch = async (home: Home): Promise<void> => {
      spawnSync('rclone', ['copy', 'cloud:hi', folderOf(home)], { env: { ...home.env, ...env } });
    };
    await talk(recipe('rclone', env), { fetch, rounds: FEW });
  },
  TIMEOUT,
);

function runs(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
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
