import { Transform } from 'node:stream';
import type { Repl } from '../../repl/repl.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { SlashContext } from '../../slash/common/command.js';
import { askQuestion } from '../terminal/ask-question.js';
import { input, search, select } from '../terminal/inquirer.js';
import type { ChatTerminal } from './chat-terminal.js';

/** Lets the user choose from a menu; null where there is no terminal for it. */
export function createChoose(repl: () => Repl, terminal: ChatTerminal): SlashContext['choose'] {
  if (terminal !== 'full') return null;
  return async (question, choices) =>
    await repl().ask(async (streams) => {
      const shown = choices.map(({ value, name }) => ({ value, name: visibleLine(name) }));
      return await askQuestion((context) => select({ message: question, choices: shown }, context), streams);
    });
}

/** Lets the user choose from a long list by typing a part of a name; null where there is no terminal for it. */
export function createSearch(repl: () => Repl, terminal: ChatTerminal): SlashContext['search'] {
  if (terminal !== 'full') return null;
  return async (question, choices) =>
    await repl().ask(async (streams) => {
      const all = choices.map(({ value, name }) => ({ value, name: visibleLine(name) }));
      const source = (typed: string | undefined) =>
        all.filter(({ name }) =>
          (typed ?? '')
            .toLowerCase()
            .split(/\s+/)
            .every((part) => name.toLowerCase().includes(part)),
        );
      let isKept = false;
      const input = new Transform({
        transform(bytes: Buffer, _encoding, done) {
          isKept ||= bytes.includes(CTRL_S);
          done(null, Buffer.from(bytes.map((byte) => (byte === CTRL_S ? RETURN : byte))));
        },
      });
      streams.input.pipe(input);
      const value = await askQuestion((context) => search({ message: question, source }, context), {
        ...streams,
        input,
      });
      return { value, isKept };
    });
}

const CTRL_S = 0x13;
const RETURN = 0x0d;

/** Asks for a text; null where there is no terminal for it. */
export function createInput(repl: () => Repl, terminal: ChatTerminal): SlashContext['input'] {
  if (terminal !== 'full') return null;
  return async (question) =>
    await repl().ask(async (streams) => {
      const message = visibleLine(question);
      return await askQuestion((context) => input({ message, required: true }, context), streams);
    });
}
