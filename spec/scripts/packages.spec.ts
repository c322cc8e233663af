import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Platform } from '../../scripts/build/bun.js';
import { makePackages } from '../../scripts/packages/make-packages.js';
import { itWhere } from '../support/where.js';

const PLATFORMS: readonly Platform[] = ['linux-x64', 'linux-arm64-musl', 'darwin-arm64', 'windows-x64'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const HAS_DPKG = spawnSync('dpkg-deb', ['--version']).status === 0;
const HAS_RUBY = spawnSync('ruby', ['--version']).status === 0;

/** Stands for an executable: says which it is, and what it was given. */
const program = (name: string): string => `#!/bin/sh\necho "${name}" "$@"\n`;

let folder: string;
let made: readonly string[];
const packages = (...parts: readonly string[]): string => join(folder, 'packages', ...parts);
const manifest = (name: string) => JSON.parse(readFileSync(packages('npm', name, 'package.json'), 'utf8'));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-packages-'));
  const executables = join(folder, 'executables');
  mkdirSync(executables);
  for (const platform of PLATFORMS) {
    const file = join(executables, `hi-${platform}${platform.startsWith('windows') ? '.exe' : ''}`);
    writeFileSync(file, program(platform));
    chmodSync(file, 0o755);
  }
  writeFileSync(join(executables, 'LEGAL.txt'), 'notices\n');
  made = makePackages(executables, packages(), PLATFORMS, 'https://example.org/v1/');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packages of the executables', () => {
  it('are all built, and nothing else', () => {
    expect(made.filter((file) => !existsSync(file))).toEqual([]);
    expect(readdirSync(packages('npm')).sort()).toEqual([
      'hi-chat-darwin-arm64',
      'hi-chat-linux-arm64-musl',
      'hi-chat-linux-x64',
      'hi-chat-native',
      'hi-chat-windows-x64',
    ]);
  });

  it('are installed by npm on their platform only', () => {
    expect(manifest('hi-chat-linux-x64')).toMatchObject({ version, os: ['linux'], cpu: ['x64'], libc: ['glibc'] });
    expect(manifest('hi-chat-linux-arm64-musl')).toMatchObject({ os: ['linux'], cpu: ['arm64'], libc: ['musl'] });
    expect(manifest('hi-chat-darwin-arm64')).toMatchObject({ os: ['darwin'], cpu: ['arm64'] });
    expect(manifest('hi-chat-darwin-arm64')).not.toHaveProperty('libc');
    expect(manifest('hi-chat-darwin-arm64')).not.toHaveProperty('bin');
    expect(manifest('hi-chat-windows-x64')).toMatchObject({ os: ['win32'], cpu: ['x64'], bin: { hi: 'hi.exe' } });
  });

  it('run nothing when they are installed', () => {
    for (const name of readdirSync(packages('npm'))) expect(manifest(name)).not.toHaveProperty('scripts');
  });

  it('match what the launcher asks for, in its version, with the JavaScript for the other platforms', () => {
    expect(manifest('hi-chat-native')).toMatchObject({
      version,
      bin: { hi: 'hi' },
      optionalDependencies: { 'hi-chat-linux-x64': version, 'hi-chat-darwin-arm64': version },
    });
    expect(manifest('hi-chat-native').optionalDependencies).not.toHaveProperty('hi-chat-windows-x64');
  });

  it('contain the schemas of what --json prints', () => {
    expect(manifest('hi-chat-native').files).toContain('docs');
    const schemas = readFileSync(packages('npm', 'hi-chat-native', 'docs', 'output.schema.json'), 'utf8');
    expect(JSON.parse(schemas).$defs).toHaveProperty('ask');
  });

  it('have checksums that sha256sum accepts', () => {
    const check = (...parts: readonly string[]) =>
      execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packages(...parts), encoding: 'utf8' });
    expect(check('npm', 'hi-chat-linux-x64')).toBe('hi: OK\n');
    expect(check().trimEnd().split('\n')).toHaveLength(PLATFORMS.length + 1 + (HAS_DPKG ? 1 : 0));
  });
});

describe('the launcher', () => {
  /** An installation that has these packages, with a link to the launcher as npm makes it. Returns the link. */
  function installed(name: string, others: readonly string[], nested: boolean): string {
    const modules = join(folder, name, 'lib', 'node_modules');
    const launcher = join(modules, 'hi-chat-native');
    const beside = nested ? join(launcher, 'node_modules') : modules;
    cpSync(packages('npm', 'hi-chat-native'), launcher, { recursive: true });
    for (const other of others) cpSync(packages('npm', other), join(beside, other), { recursive: true });
    writeFileSync(join(launcher, 'dist', 'hi.js'), "console.log('JavaScript', ...process.argv.slice(2));\n");
    mkdirSync(join(folder, name, 'bin'));
    symlinkSync('../lib/node_modules/hi-chat-native/hi', join(folder, name, 'bin', 'hi'));
    return join(folder, name, 'bin', 'hi');
  }
  const say = (file: string, ...args: readonly string[]) => execFileSync(file, args, { encoding: 'utf8' });

  it.each([true, false])('starts the executable of the platform with all arguments (nested: %s)', (nested) => {
    const hi = installed(`native ${nested}`, ['hi-chat-linux-x64'], nested);
    expect(say(hi, 'ask', 'two  words', '')).toBe('linux-x64 ask two  words \n');
  });

  it.each([true, false])('starts the JavaScript if npm found no executable (nested: %s)', (nested) => {
    expect(say(installed(`script ${nested}`, [], nested), 'ask', 'x')).toBe('JavaScript ask x\n');
  });

  it('says what to do if there is neither', () => {
    const hi = installed('nothing', [], false);
    rmSync(join(folder, 'nothing', 'lib', 'node_modules', 'hi-chat-native', 'dist'), { recursive: true });
    const { status, stderr } = spawnSync(hi, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      127,
      expect.stringMatching(/Found no program to start.*npm install -g hi-chat-native/),
    ]);
  });
});

describe('the Homebrew formula', () => {
  const ruby = (): string => readFileSync(packages('hi.rb'), 'utf8');

  it('fetches each executable that Homebrew can run, with its hash', () => {
    const sums = readFileSync(packages('SHA256SUMS'), 'utf8');
    for (const platform of ['linux-x64', 'darwin-arm64']) {
      const [, hash = ''] = new RegExp(`^([0-9a-f]{64})  hi-${platform}$`, 'm').exec(sums) ?? [];
      expect(ruby()).toContain(`url "https://example.org/v1/hi-${platform}"\n      sha256 "${hash}"`);
    }
    expect(ruby()).not.toMatch(/musl|windows/);
  });

  it('passes what `brew audit` asks of a description and an order', () => {
    expect(ruby()).toMatch(/^ {2}desc "[A-Z][^".]{1,78}"$/m);
    expect(ruby()).not.toMatch(/^ {2}desc "(?:An?|The) /m);
    expect(ruby().indexOf('resource "manual" do')).toBeGreaterThan(ruby().indexOf('on_linux do'));
  });

  itWhere(HAS_RUBY, 'there is no ruby')('is Ruby', () => {
    expect(spawnSync('ruby', ['-c', packages('hi.rb')], { encoding: 'utf8' }).stdout).toContain('Syntax OK');
  });
});

describe('the Debian package', () => {
  itWhere(HAS_DPKG, 'there is no dpkg-deb')('installs the program, its manual and its completions', () => {
    const file = packages(`hi-chat_${version}_amd64.deb`);
    const root = join(folder, 'root');
    execFileSync('dpkg-deb', ['--extract', file, root]);
    expect(execFileSync(join(root, 'usr/bin/hi'), ['x'], { encoding: 'utf8' })).toBe('linux-x64 x\n');
    const manual = execFileSync('gzip', ['-dc', join(root, 'usr/share/man/man1/hi.1.gz')], { encoding: 'utf8' });
    expect(manual).toBe(readFileSync(packages('hi.1'), 'utf8'));
    for (const shell of [
      'bash-completion/completions/hi',
      'zsh/vendor-completions/_hi',
      'fish/vendor_completions.d/hi.fish',
    ])
      expect(statSync(join(root, 'usr/share', shell)).mode & 0o777).toBe(0o644);
    expect(readFileSync(join(root, 'usr/share/doc/hi-chat/copyright'), 'utf8')).toContain(
      'Permission is hereby granted',
    );
    expect(statSync(root).mode & 0o777).toBe(0o755);
    const field = (name: string) => execFileSync('dpkg-deb', ['--field', file, name], { encoding: 'utf8' }).trim();
    expect([field('Package'), field('Version'), field('Architecture')]).toEqual(['hi-chat', version, 'amd64']);
    expect(readFileSync(join(root, 'usr/share/doc/hi-chat/LEGAL.txt'), 'utf8')).toBe('notices\n');
    const [synopsis, ...lines] = field('Description').split('\n');
    expect(synopsis).not.toMatch(/^(?:an?|the) /i);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^ \S.{1,78}$/);
  });
});
