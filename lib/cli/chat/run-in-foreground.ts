import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { World } from '../base/world.js';

/** Runs a command as the user's shell would, with the terminal to itself where there is one; what it prints is not read. A script on stdin is not the command's to read. */
export async function runInForeground(command: string, world: World, cwd: string): Promise<void> {
  const shell = world.env.SHELL || '/bin/sh';
  const child = spawn(shell, ['-c', command], {
    stdio: [world.stdinIs === 'terminal' ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    cwd,
    env: { ...world.env },
  });
  await once(child, 'close');
}
