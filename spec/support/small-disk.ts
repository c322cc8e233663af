import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itWhere } from './where.js';

const PAGE = 4096;

const mounted: string[] = [];

/** `it` where this machine lets us mount a file system; elsewhere a skipped case. */
export const itWithSmallDisk = itWhere(mayMount(), 'only root may mount');

function mayMount(): boolean {
  const folder = mount(64);
  if (folder !== null) spawnSync('umount', ['-l', folder]);
  return folder !== null;
}

/** A file system in memory of that many kibibytes. */
export function smallDisk(kibibytes: number): string {
  const folder = mount(kibibytes);
  if (folder === null) throw new Error('Cannot mount a file system in memory.');
  mounted.push(folder);
  return folder;
}

function mount(kibibytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'hi-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder]);
  if (status === 0) return folder;
  rmdirSync(folder);
  return null;
}

/** Fills a disk up to so many free pages. */
export function fill(folder: string, free: number): void {
  const filler = join(folder, 'filler');
  rmSync(filler, { force: true });
  const { bavail, bsize } = statfsSync(folder);
  const size = bavail * bsize - free * PAGE;
  if (size > 0) writeFileSync(filler, Buffer.alloc(size));
}

/** Takes away what fills the disk. */
export function empty(folder: string): void {
  rmSync(join(folder, 'filler'), { force: true });
}

/** Gives all small disks back. */
export function unmountAll(): void {
  for (const folder of mounted.splice(0)) spawnSync('umount', ['-l', folder]);
}
