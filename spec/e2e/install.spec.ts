import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emptyMachine, firstRun, type Machine, pack, type Said, say, warningsOfOurs } from '../support/install.js';

const ROOT = resolve(import.meta.dirname, '../..');
const LIMIT = 3_000_000;

let folder: string;
let machine: Machine;
let bytes: number;
let installed: Said;

// Without a network: what the bundle holds is no dependency, and the optional zstd-napi is left out. With a network,
// install scripts and the other Node versions: npm run check:install.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hi-install-'));
  machine = emptyMachine(folder, process.execPath);
  const env = { ...machine.env, npm_config_cache: join(folder, 'cache') };
  const packed = await pack(folder, env);
  bytes = packed.bytes;
  const args = ['install', '--global', '--prefix', machine.prefix, '--offline', '--ignore-scripts', packed.file];
  installed = await say('npm', args, env, machine.home);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('is smaller than 3 MB', () => expect(bytes).toBeLessThan(LIMIT));

  it('has no dependency except the optional zstd', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
    expect(Object.keys(optionalDependencies)).toEqual(['zstd-napi']);
  });

  it('installs into an empty prefix with one command and without a warning', () => {
    expect(installed.text).toMatch(/added 1 package/);
    expect(installed.status).toBe(0);
    expect(warningsOfOurs(installed)).toEqual([]);
  });

  it('contains the program, its manual page and its documentation', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(await say(machine.hi, ['--version'], machine.env)).toEqual({ status: 0, text: `${version}\n` });
    expect(existsSync(join(machine.prefix, 'share/man/man1/hi.1'))).toBe(true);
    for (const file of ['configure.md', 'output.schema.json'])
      expect(existsSync(join(machine.prefix, 'lib/node_modules/hi-chat/docs', file))).toBe(true);
  });

  it('needs no zstd other than its own', async () => {
    const { status, text } = await say(machine.hi, ['config', 'check'], { ...machine.env, OPENAI_API_KEY: 'k' });
    expect(text).toMatch(
      'zstdCompressSync' in process.getBuiltinModule('node:zlib') ? /zstd: Node/ : /zstd: WebAssembly/,
    );
    expect(status).toBe(0);
  });

  it('starts a conversation on the first run', async () => {
    const { status, screen } = await firstRun(machine);
    expect(status).toBe(0);
    expect(screen).toContain('Welcome.');
    expect(statSync(join(machine.home, '.config/hi/config.json')).mode & 0o777).toBe(0o600);
    const history = readFileSync(join(machine.home, '.local/share/hi/history.json.zst'));
    expect(JSON.parse(execFileSync('zstd', ['-dc'], { input: history }).toString())).not.toEqual([]);
  });
});
