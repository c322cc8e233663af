import { HiError, isAbort } from '../../errors.js';
import type { Repl } from '../../repl/repl.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { SlashContext } from '../../slash/common/command.js';
import { askQuestion } from '../terminal/ask-question.js';
import { confirm } from '../terminal/inquirer.js';
import type { ChatTerminal } from './chat-terminal.js';

/** How the questions of slash commands are answered. */
export interface ConfirmOptions {
  readonly repl: () => Repl;
  readonly terminal: ChatTerminal;
  /** Whether `-y` was given. */
  readonly yes: boolean;
}

/** Asks the yes-or-no questions of slash commands. Without a user to ask, `-y` is the answer; without `-y` a `HiError` of code `usage` is thrown. */
export function createConfirm({ repl, terminal, yes }: ConfirmOptions): SlashContext['confirm'] {
  return async (message, alternative) => {
    if (terminal !== 'full') {
      if (yes) return true;
      const where = terminal === 'dumb' ? 'with TERM=dumb' : 'without a terminal';
      throw new HiError('usage', `Cannot ask ${where}: "${message}"`, {
        hint: `'hi chat -y' answers yes to every question, also about tools. ${alternative}`,
      });
    }
    const asked = repl().ask(async (streams) => {
      return await askQuestion(
        (context) => confirm({ message: visibleLine(message), default: false }, context),
        streams,
      );
    });
    return await asked.catch(noWhenCancelled);
  };
}

/** Cancelling means no: nothing was started that could be interrupted. */
function noWhenCancelled(thrown: unknown): false {
  if (isAbort(thrown)) return false;
  throw thrown;
}
