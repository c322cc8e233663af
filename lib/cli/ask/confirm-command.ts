import { HiError } from '../../errors.js';
import { shellQuoted } from '../base/command-output.js';
import type { World } from '../base/world.js';
import { confirm } from './inquirer.js';
import { askQuestion } from './terminal-question.js';

/**
 * Asks whether a command is to do what it says; a question that is cancelled means no. Throws like `requireTerminal`.
 */
export async function confirmCommand(world: World, message: string): Promise<boolean> {
  requireTerminal(world);
  try {
    const streams = { input: world.stdin, output: world.stderr };
    return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
  } catch {
    return false;
  }
}

/** Throws a `HiError` of code `usage`, with the command that does not ask, where nobody can be asked. */
export function requireTerminal({ stdinIs, stderr, argv }: World): void {
  if (stdinIs === 'terminal' && stderr.isTTY) return;
  const end = argv.indexOf('--');
  const words = argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word)));
  words.splice(end < 0 ? words.length : end, 0, '-y');
  throw new HiError('usage', 'Cannot ask for confirmation without a terminal.', {
    hint: `To do it without being asked, run: hi ${words.join(' ')}`,
  });
}
