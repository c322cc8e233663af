import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { store, turns } from '../support/compacting.js';
import { png } from '../support/pictures.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const PNG = png();

const isRoot = process.getuid?.() === 0;

/** What a path may lead to that has no end. */
const OTHERS: Readonly<Record<string, (path: string) => void>> = {
  'a named pipe': (path) => void execFileSync('mkfifo', [path]),
  'a link to a named pipe': (path) => {
    execFileSync('mkfifo', [`${path}.pipe`]);
    symlinkSync(`${path}.pipe`, path);
  },
  // Never that of the machine: a program that is wrong here could replace it.
  ...(isRoot ? { 'a link to a device without end': (path) => symlinkSync(device(`${path}.device`), path) } : {}),
};

function device(path: string): string {
  execFileSync('mknod', [path, 'c', '1', '5']);
  return path;
}

let server: ScriptedServer;
let home: Home;
beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  writeFileSync(join(home.work, 'a.png'), PNG);
});
afterEach(async () => {
  await server.close();
  home.remove();
});

/** A program that waits for ever is ended, with status 124. */
const hi = (args: readonly string[]) => runProgram(home, args, { under: ['timeout', '-k', '1', '20'] });
const attachments = () => join(home.data, 'attachments');
const attachment = () => join(attachments(), readdirSync(attachments()).find((name) => name.length === 64) ?? '');

function putIn(path: string, other: string): void {
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  OTHERS[other]?.(path);
}

it('anything without end in place of an attachment is reported once as missing, and kept', async () => {
  const kinds = Object.keys(OTHERS);
  const pictures = kinds.map((_, at) => `${at}.png`);
  for (const [at, name] of pictures.entries()) writeFileSync(join(home.work, name), png(at + 1));
  const attached = pictures.flatMap((name) => ['-f', name]);
  expect(await hi(['ask', ...attached, 'look'])).toMatchObject({ status: 0 });
  const paths = pictures.map((name) =>
    join(
      attachments(),
      createHash('sha256')
        .update(readFileSync(join(home.work, name)))
        .digest('hex'),
    ),
  );
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  for (const [at, path] of paths.entries()) putIn(path, kinds[at] ?? '');
  expect(await hi(['ask', 'more'])).toMatchObject({ status: 0, stderr: expect.stringContaining('missing') });
  expect(JSON.stringify(server.requests.at(-1)).match(/is no longer there/g)).toHaveLength(kinds.length);
  expect(await hi(['ask', 'more'])).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
  const check = (await hi(['config', 'check'])).stdout;
  for (const [at, name] of pictures.entries()) {
    expect(check).toMatch(/Missing or \w+: /);
    expect(check).toContain(`image '${name}'`);
    const again = await hi(['ask', '-f', name, 'look']);
    expect(again).toMatchObject({ status: 7, stderr: expect.stringContaining(`'${paths[at]}' is a pipe or a device`) });
    expect(lstatSync(paths[at] ?? '').isFile()).toBe(false);
  }
});

describe.each(Object.keys(OTHERS))('%s', (other) => {
  const put = (path: string): void => putIn(path, other);

  it.each(['history.json.zst', 'history.reset.json.zst'])('in the place of %s is refused by its name', async (name) => {
    store(home, turns(1));
    const path = join(home.data, name);
    put(path);
    for (const args of [['reset', '-y'], ...(name === 'history.json.zst' ? [['ask', 'x'], ['history']] : [])]) {
      const { status, stderr } = await hi(args);
      expect(stderr).toContain(`'${path}' is a pipe or a device, not a file.`);
      expect(status).toBe(7);
    }
    expect((await hi(['reset', '--undo', '-y'])).status).toBe(7);
    expect(lstatSync(path).isFile()).toBe(false);
  });

  it('in place of config.json is refused', async () => {
    put(home.configFile);
    expect(await hi(['ask', 'x'])).toMatchObject({ status: 3, stderr: expect.stringContaining('must be a file') });
  });

  it('in place of an optional file is ignored', async () => {
    for (const name of ['history.told', 'history.seen']) put(join(home.data, name));
    execFileSync('touch', [join(home.data, 'history.turn.1.zzz.1.1')]);
    await hi(['ask', 'one']);
    expect(await hi(['ask', 'two'])).toMatchObject({ status: 0, stdout: 'ok\n' });
  });
});

describe('a folder in place of an attachment', () => {
  beforeEach(async () => {
    await hi(['ask', '-f', 'a.png', 'look']);
    const path = attachment();
    rmSync(path);
    mkdirSync(path);
  });

  it('is replaced when the same bytes are attached again, if it is empty', async () => {
    expect(await hi(['ask', '-f', 'a.png', 'look'])).toMatchObject({ status: 0 });
    expect(lstatSync(attachment()).isFile()).toBe(true);
    expect(JSON.stringify(server.requests.at(-1))).not.toContain('no longer there');
  });

  it('is refused by name, and kept, if it is not empty', async () => {
    writeFileSync(join(attachment(), 'mine'), 'words');
    const { status, stderr } = await hi(['ask', '-f', 'a.png', 'look']);
    expect(stderr).toContain(`'${attachment()}' is a folder, not a file.`);
    expect(status).toBe(7);
    expect(await hi(['ask', 'more'])).toMatchObject({ status: 0 });
    expect(await hi(['reset', '--purge', '-y'])).toMatchObject({ status: 0 });
    expect(existsSync(join(attachment(), 'mine'))).toBe(true);
  });
});

describe('other files in the data folder with names like those of hi', () => {
  const FILES = [
    'history.lock.notes',
    'history.lock.a.b.c',
    'history.lost.mine',
    'history.lost.a.1.1',
    'history.new.txt',
    'history.turn.5.notes',
    'history.damaged-notes.json.zst',
    `attachments/${'a'.repeat(64)}.bak`,
  ];
  const FOLDERS = [
    'history.lock.abc.1.2',
    'history.lost.abc.1.2.xyz',
    'history.new.abc.1.2',
    'history.turn.1.abc.1.2',
    'history.damaged-2026-01-01T00-00-00.json.zst',
    `attachments/${'b'.repeat(64)}`,
    `attachments/${'c'.repeat(64)}.abc.1.2`,
  ];

  it('are neither waited for nor removed, not even by --purge', async () => {
    mkdirSync(attachments(), { recursive: true });
    for (const name of FILES) writeFileSync(join(home.data, name), 'mine');
    for (const name of FOLDERS) mkdirSync(join(home.data, name));
    for (const args of [['ask', '-f', 'a.png', 'one'], ['ask', 'two'], ['status'], ['reset', '-y'], ['ask', 'three']]) {
      expect(await hi(args)).toMatchObject({ status: 0 });
    }
    for (const args of [
      ['reset', '--undo', '-y'],
      ['reset', '-y'],
      ['reset', '--purge', '-y'],
    ]) {
      expect(await hi(args)).toMatchObject({ status: 0 });
    }
    expect([...FILES, ...FOLDERS].filter((name) => !existsSync(join(home.data, name)))).toEqual([]);
  });

  it('and elements without a valid checksum are removed by --purge', async () => {
    await hi(['ask', 'one']);
    const path = join(home.data, 'history.damaged-2026-01-01T00-00-00-unverified.json.zst');
    writeFileSync(path, 'words');
    expect(await hi(['reset', '--purge', '-y'])).toMatchObject({ status: 0 });
    expect(existsSync(path)).toBe(false);
  });
});

describe('an unreadable copy of the last reset', () => {
  it('is refused by name, and the conversation stays', async () => {
    await hi(['ask', 'one']);
    await hi(['reset', '-y']);
    await hi(['ask', 'two']);
    const copy = join(home.data, 'history.reset.json.zst');
    writeFileSync(copy, 'no words of hi');
    const { status, stderr } = await hi(['reset', '--undo', '-y']);
    expect(stderr).toContain(`The copy '${copy}' is damaged`);
    expect(status).toBe(7);
    expect((await hi(['history'])).stdout).toContain('two');
  });
});

describe('a type and a role that are objects', () => {
  it('are shown as they are in the file', async () => {
    mkdirSync(home.data);
    const elements = [
      { id: 1, turn: 1, at: '2026-01-01T00:00:00Z', role: 'user', content: [{ type: { a: 1 } }] },
      { id: 2, turn: 1, at: '2026-01-01T00:00:00Z', role: { b: 2 }, content: [] },
    ];
    writeFileSync(home.historyFile, execFileSync('zstd', ['-c'], { input: JSON.stringify(elements) }));
    const { stdout } = await hi(['history']);
    expect(stdout).toContain(`a part of type '{"a":1}'`);
    expect(stdout).toContain(`a message of role '{"b":2}'`);
  });
});

describe('a named pipe as the configuration', () => {
  it('that nobody writes to is an error, and one with a writer is read', async () => {
    const pipe = join(home.work, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const waiting = await runProgram(home, ['config', 'show', '--config', pipe]);
    expect(waiting).toMatchObject({ status: 3, stderr: expect.stringContaining('It is a pipe or a device') });
    const writer = spawn('sh', ['-c', `printf '{"provider":"ollama","model":"x"}' > ${pipe}`]);
    const read = await runProgram(home, ['config', 'show', '--config', pipe]);
    writer.kill();
    expect(read.stdout).toContain('"model": "x"');
  });
});

it.each([
  ['an empty file', Buffer.alloc(0)],
  ['data that is no zstd', Buffer.from('no history of anybody, nor anything compressed. '.repeat(9))],
])('calls a history %s that is one, and keeps it', async (what, bytes) => {
  mkdirSync(dirname(home.historyFile), { recursive: true });
  writeFileSync(home.historyFile, bytes);
  const run = await runProgram(home, ['ask', 'x']);
  expect(run.status).toBe(0);
  expect(run.stderr).toContain(`The history was not one JSON array in zstd but ${what}.`);
  expect(readdirSync(home.data).filter((name) => name.startsWith('history.damaged-'))).toHaveLength(1);
  const { stdout } = await runProgram(home, ['status']);
  expect(stdout).toMatch(/^file +.*history\.damaged-\S+\.json\.zst \(damaged, set aside\)$/m);
});
