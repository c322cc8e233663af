import { createHash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { MANUAL } from '../../lib/cli/manual.js';
import type { Platform } from '../build/bun.js';
import { debianFile, makeDebian } from './debian.js';
import { formula } from './homebrew.js';
import { launcherScript } from './launcher.js';
import { LAUNCHER, launcherManifest, type Project, packageOf, platformManifest, programOf } from './manifests.js';

/** The folder of the packages. */
export const PACKAGES = resolve('packages');

/**
 * Builds all packages of the executables into a folder, which is emptied first: those for npm with their launcher,
 * those for Debian if `dpkg-deb` exists, a Homebrew formula if the address of the files is known, and the files to
 * fetch: the executables, the manual and SHA256SUMS. Returns their names.
 */
export function makePackages(
  executables: string,
  folder: string,
  platforms: readonly Platform[],
  address: string | null,
): readonly string[] {
  const project: Project = JSON.parse(readFileSync('package.json', 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manual = join(folder, 'hi.1');
  writeFileSync(manual, MANUAL);
  const built = new Map(platforms.map((platform) => [platform, join(executables, fileOf(platform))]));
  const files = [...built.values()].map((file) => copied(file, folder));
  const folders = [...built].map(([platform, file]) => platformPackage(folder, platform, file, project));
  folders.push(launcherPackage(folder, platforms, project));
  const debians = hasDpkg() ? [...built].flatMap((each) => debian(folder, each, project)) : [];
  const sums = join(folder, 'SHA256SUMS');
  writeFileSync(sums, [...files, ...debians, manual].map(sumOf).join(''));
  const hashes = {
    executables: Object.fromEntries([...built].map(([platform, file]) => [platform, hash(file)])),
    manual: hash(manual),
  };
  const ruby = address === null ? [] : [write(join(folder, 'hi.rb'), formula(address, project, hashes))];
  return [...folders, ...files, ...debians, ...ruby, manual, sums];
}

function fileOf(platform: Platform): string {
  return `hi-${platform}${platform.startsWith('windows') ? '.exe' : ''}`;
}

function platformPackage(folder: string, platform: Platform, executable: string, project: Project): string {
  const own = join(folder, 'npm', packageOf(platform));
  const program = join(own, programOf(platform));
  mkdirSync(own, { recursive: true });
  copyFileSync(executable, program);
  chmodSync(program, 0o755);
  copyFileSync('LICENSE', join(own, 'LICENSE'));
  const notices = join(executable, '..', 'LEGAL.txt');
  if (existsSync(notices)) copyFileSync(notices, join(own, 'LEGAL.txt'));
  write(join(own, 'SHA256SUMS'), sumOf(program));
  write(join(own, 'package.json'), `${JSON.stringify(platformManifest(platform, project), null, 2)}\n`);
  return own;
}

/** What programs rely on that read the output. */
const SCHEMAS = 'docs/output.schema.json';

function launcherPackage(folder: string, platforms: readonly Platform[], project: Project): string {
  const own = join(folder, 'npm', LAUNCHER);
  mkdirSync(own, { recursive: true });
  cpSync('dist', join(own, 'dist'), { recursive: true });
  cpSync(SCHEMAS, join(own, SCHEMAS));
  write(join(own, 'hi'), launcherScript(platforms));
  chmodSync(join(own, 'hi'), 0o755);
  copyFileSync('LICENSE', join(own, 'LICENSE'));
  write(join(own, 'package.json'), `${JSON.stringify(launcherManifest(platforms, project), null, 2)}\n`);
  return own;
}

function debian(
  folder: string,
  [platform, executable]: readonly [Platform, string],
  project: Project,
): readonly string[] {
  const name = debianFile(platform, project.version);
  if (name === null) return [];
  const file = join(folder, name);
  makeDebian(platform, executable, file, project);
  return [file];
}

function hasDpkg(): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, 'dpkg-deb')));
}

function copied(file: string, folder: string): string {
  const copy = join(folder, basename(file));
  copyFileSync(file, copy, constants.COPYFILE_FICLONE);
  return copy;
}

/** A line in the format of `sha256sum`. */
function sumOf(file: string): string {
  return `${hash(file)}  ${basename(file)}\n`;
}

function hash(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function write(file: string, text: string): string {
  writeFileSync(file, text);
  return file;
}
