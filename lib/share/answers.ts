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
  let found: { readonly at: string; readonly isLocal: boolean } | null = null;
  for (const line of lines) {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device = '', , at = ''] = before.split(' ');
    const [type = ''] = after.split(' ');
    const path = at.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const isAbove = folder === path || folder.startsWith(path.endsWith('/') ? path : `${path}/`);
    if (!isAbove || path.length < (found?.at.length ?? 0)) continue;
    const isOnDisk = !device.startsWith('0:') && !type.startsWith('fuse');
    found = { at: path, isLocal: isOnDisk || IN_KERNEL.has(type) };
  }
  return found?.isLocal ?? false;
}

function mounts(): readonly string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  } catch {
    return [];
  }
}
