import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PAGE = 4096;

const mounted: string[] = [];

/** A file system in memory of that many kibibytes, or null where this machine does not let us make one: only root may mount. */
export function smallDisk(kibibytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'hi-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return null;
  }
  mounted.push(folder);
  return folder;
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
