import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SCRIPTS } from '../../lib/cli/commands/completion-scripts.js';
import { MANUAL } from '../../lib/cli/manual.js';
import type { Platform } from '../build/bun.js';
import { type Project, synopsis } from './manifests.js';

/** Debian's names of the processors. */
const ARCHITECTURES: Readonly<Partial<Record<Platform, string>>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

/** The file of the Debian package of an executable, null for a platform that Debian does not support. */
export function debianFile(platform: Platform, version: string): string | null {
  const architecture = ARCHITECTURES[platform];
  return architecture === undefined ? null : `hi-chat_${version}_${architecture}.deb`;
}

/** Builds the Debian package of an executable with `dpkg-deb`. Throws its message when it fails. */
export function makeDebian(platform: Platform, executable: string, file: string, project: Project): void {
  const root = mkdtempSync(join(tmpdir(), 'hi-debian-'));
  try {
    chmodSync(root, 0o755);
    fillRoot(root, executable);
    write(root, 'DEBIAN/control', control(ARCHITECTURES[platform] ?? platform, installedSize(root), project));
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Zgzip', '-z6', root, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The files of the package. */
const TEXTS: Readonly<Record<string, () => string | Buffer>> = {
  'usr/share/man/man1/hi.1.gz': () => zipped(MANUAL),
  'usr/share/bash-completion/completions/hi': () => SCRIPTS.bash,
  'usr/share/zsh/vendor-completions/_hi': () => SCRIPTS.zsh,
  'usr/share/fish/vendor_completions.d/hi.fish': () => SCRIPTS.fish,
  'usr/share/doc/hi-chat/copyright': copyright,
  'usr/share/doc/hi-chat/changelog.gz': () => zipped(readFileSync('CHANGELOG.md', 'utf8')),
};

function fillRoot(root: string, executable: string): void {
  for (const [path, text] of Object.entries(TEXTS)) write(root, path, text());
  const notices = join(executable, '..', 'LEGAL.txt');
  if (existsSync(notices)) write(root, 'usr/share/doc/hi-chat/LEGAL.txt', readFileSync(notices));
  const program = join(root, 'usr/bin/hi');
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(executable, program);
  chmodSync(program, 0o755);
}

function write(root: string, path: string, content: string | Buffer): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeFileSync(file, content, { mode: 0o644 });
}

/** Compresses a text as Debian requires: with the best compression and without a timestamp. */
function zipped(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

/** The size in KiB, calculated like `dpkg`. */
function installedSize(root: string): number {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => statSync(join(root, path)));
  return files.reduce((sum, file) => sum + (file.isFile() ? Math.ceil(file.size / 1024) : 1), 0);
}

/** The control file (Debian Policy, 5.3). */
export function control(architecture: string, size: number, { version, description }: Project): string {
  const [, ...rest] = description.split(/(?<=[.:]) /);
  const short = synopsis(description);
  return [
    'Package: hi-chat',
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    'Maintainer: the hi authors <hi@localhost>',
    `Installed-Size: ${size}`,
    'Depends: libc6 (>= 2.28)',
    'Recommends: bubblewrap, ca-certificates',
    'Suggests: git, less',
    'Section: utils',
    'Priority: optional',
    `Description: ${short}`,
    ...wrapped(rest.join(' ') || short).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

/** Lines of at most 79 characters, like those of Debian's other descriptions. */
function wrapped(text: string): readonly string[] {
  return text.match(/\S.{0,77}(?=\s|$)/g) ?? [];
}

/** In the form of Debian's machine-readable copyright files. */
function copyright(): string {
  const [, ...rest] = readFileSync('LICENSE', 'utf8').trimEnd().split('\n');
  const [holder = '', ...terms] = rest.filter((line, place) => line !== '' || place > 0);
  const text = terms.join('\n').trim().split('\n');
  return [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: hi',
    '',
    'Files: *',
    holder.replace(/^Copyright \(c\)/, 'Copyright:'),
    'License: Expat',
    ...text.map((line) => (line === '' ? ' .' : ` ${line}`)),
    '',
  ].join('\n');
}
