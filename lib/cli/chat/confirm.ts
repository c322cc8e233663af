import { HiError } from '../../errors.js';
import type { Repl } from '../../repl/repl.js';
import type { SlashContext } from '../../slash/command.js';
import { askQuestion } from '../base/ask-question.js';

/** How the questions of slash commands are answered. */
export interface ConfirmOptions {
  readonly repl: () => Repl;
  /** Why nobody can be asked; null where somebody can. */
  readonly obstacle: 'without a terminal' | 'with TERM=dumb' | null;
  /** Whether `-y` was given. */
  readonly yes: boolean;
}

/** Asks the yes-or-no questions of slash commands. Where nobody can be asked, `-y` is the answer, and without it a `HiError` of code `usage` is thrown. */
export function createConfirm({ repl, obstacle, yes }: ConfirmOptions): SlashContext['confirm'] {
  return async (message, alternative) => {
    if (obstacle !== null && yes) return true;
    if (obstacle !== null) {
      throw new HiError('usage', `Cannot ask ${obstacle}: "${message}"`, {
        hint: `'hi chat -y' answers yes, to the questions of tools too. ${alternative}`,
      });
    }
    return await repl().ask(async (streams) => {
      const { confirm } = await import('../base/inquirer.js');
      return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
    });
  };
}
