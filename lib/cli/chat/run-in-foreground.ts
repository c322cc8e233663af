import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { shellCommand } from '../../shell-command.js';
import type { World } from '../base/world.js';

/**
 * Runs a command with the user's shell, connected to the terminal where there is one. Its output is not read, and it cannot read a script on stdin. Resolves to
 * how it ended; null where it succeeded.
 */
export async function runInForeground(command: string, world: World, cwd: string): Promise<string | null> {
  const system = { platform: process.platform, env: world.env };
  const { file, args, options } = shellCommand(command, [], system, world.env.SHELL || '/bin/sh');
  const child = spawn(file, args, {
    ...options,
    stdio: [world.stdinIs === 'terminal' ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    cwd,
    env: { ...world.env },
  });
  const [status, signal] = await once(child, 'close');
  if (status === 0) return null;
  return status === null ? `ended by ${signal}` : `exit status ${status}`;
}
