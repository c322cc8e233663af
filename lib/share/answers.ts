import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ownProgram } from '../processes.js';

/** How long a file system may take to answer. Milliseconds. */
const PATIENCE = 200;

/**
 * Whether the file system of a folder answers. On one that may not, such as that of a server, any call may block this
 * process for ever, even at its exit, so another process looks first. File systems on a disk of this machine, or in its
 * memory, are not asked.
 */
export async function answers(folder: string): Promise<boolean> {
  if (isLocal(folder, mounts())) return true;
  return await new Promise((resolve) => {
    // The kernel remembers for a while what is there, so one asks for what nobody has asked for.
    const unknown = `${folder}/.${process.pid}-${Date.now()}`;
    // It is left behind if it hangs: nothing ends a process that waits for such a file system.
    const looking = spawn(ownProgram('ls'), ['-d', unknown], { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => end(false), PATIENCE);
    const end = (isThere: boolean): void => {
      clearTimeout(timer);
      looking.unref();
      resolve(isThere);
    };
    looking.on('exit', () => end(true));
    looking.on('error', () => end(true));
  });
}

/** The file systems without a device that never leave this machine. Those with one have a major number. */
const IN_KERNEL = new Set(['tmpfs', 'ramfs', 'overlay', 'btrfs', 'zfs', 'bcachefs']);

/** Whether a folder is on a file system of this machine's kernel, by the lines of `/proc/self/mountinfo`. */
export function isLocal(folder: string, lines: readonly string[]): boolean {
  let [longest, found] = ['', ''];
  for (const line of lines) {
    const [, , , , at = ''] = line.split(' ', 5);
    const path = at.includes('\\') ? withoutEscapes(at) : at;
    const isAbove = folder.startsWith(path.endsWith('/') ? path : `${path}/`) || folder === path;
    // Of those at one place, the last one hides the others.
    if (path !== '' && isAbove && path.length >= longest.length) [longest, found] = [path, line];
  }
  const [, , device = ''] = found.split(' ', 3);
  const [type = ''] = found.slice(found.indexOf(' - ') + 3).split(' ', 1);
  const isOnDisk = found !== '' && !device.startsWith('0:') && !type.startsWith('fuse');
  return isOnDisk || IN_KERNEL.has(type);
}

const withoutEscapes = (path: string): string =>
  path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

function mounts(): readonly string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  } catch {
    return [];
  }
}
