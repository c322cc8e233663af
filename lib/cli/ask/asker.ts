import { Transform } from 'node:stream';
import type { AskAboutBook } from '../../books/consent.js';
import { HiError, isAbort } from '../../errors.js';
import type { Instructions } from '../../memory/instructions.js';
import type { Repl } from '../../repl/repl.js';
import { wrapLines } from '../../screen/print.js';
import type { Screen } from '../../screen/screen.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { CommandQuestions } from '../../slash/common/command.js';
import type { Asker } from '../base/options.js';
import type { ChatTerminal } from '../base/output.js';
import type { World } from '../base/world.js';
import { type ApprovalStreams, askApproval, askToAgree } from './approve.js';
import { askForServer } from './elicit.js';
import { confirm, input, password, search, select } from './inquirer.js';
import { askQuestion, discardTypeAhead, withBracketedPaste } from './terminal-question.js';

/** Shows a question and resolves to its answer. Rejects as an interruption if the user or the signal cancels it. */
type ShowQuestion = <Answer>(
  question: (streams: ApprovalStreams) => Promise<Answer>,
  signal?: AbortSignal,
) => Promise<Answer>;

/**
 * Shows questions on the terminal while nothing else is drawn. Cancelling one stops the turn, as Ctrl-C does at any
 * other time.
 */
export function onTerminal(
  { stdin, stdinIs, stderr, openKeys }: World,
  screen: Screen,
  stop: AbortController,
): ShowQuestion {
  return async (question, signal = stop.signal) => {
    const resume = screen.pause();
    const keys = stdinIs === 'terminal' ? stdin : (openKeys() ?? stdin);
    try {
      const ready = async (): Promise<void> => {
        if (await discardTypeAhead(keys, signal)) screen.notice('Ignored what was typed before the question.', 'info');
      };
      const streams = { input: keys, output: stderr, signal, ready };
      return await withBracketedPaste(stderr, () => question(streams));
    } catch (thrown) {
      if (isAbort(thrown)) stop.abort();
      throw thrown;
    } finally {
      keys.pause();
      keys.setRawMode?.(false);
      if (keys !== stdin) keys.destroy();
      resume();
    }
  };
}

/** Shows questions in the place of the prompt. */
export function inRepl(repl: () => Repl): ShowQuestion {
  return (question, signal) =>
    repl().ask((streams) => {
      const either = signal === undefined ? streams.signal : AbortSignal.any([signal, streams.signal]);
      return question({ ...streams, signal: either });
    });
}

/** Asks what a turn needs to know. */
export function askerOf(show: ShowQuestion, { env }: World): Asker {
  return {
    approve: (question, signal) => show((streams) => askApproval(question, streams, env), signal),
    aboutBook: (book, server) => show((streams) => askAboutBook(book, server, streams)),
    aboutInstructions: (files, signal) => show((streams) => askAboutInstructions(files, streams), signal),
    elicit: (server, question, signal) => show((streams) => askForServer(server, question, streams), signal),
    aboveLimit: (text, signal) => show((streams) => askToAgree([], text, streams), signal),
  };
}

/** How slash commands ask the user. */
export function questionsOfCommands(repl: () => Repl, terminal: ChatTerminal, yes: boolean): CommandQuestions {
  return {
    confirm: createConfirm({ repl, terminal, yes }),
    choose: createChoose(repl, terminal),
    search: createSearch(repl, terminal),
    input: createInput(repl, terminal),
  };
}

/** Lets the user choose from a menu; null where there is no terminal for it. */
function createChoose(repl: () => Repl, terminal: ChatTerminal): CommandQuestions['choose'] {
  if (terminal !== 'full') return null;
  return async (question, choices) =>
    await repl().ask(async (streams) => {
      const shown = choices.map(({ value, name }) => ({ value, name: visibleLine(name) }));
      return await askQuestion((context) => select({ message: question, choices: shown }, context), streams);
    });
}

/** Lets the user choose from a long list by typing a part of a name; null where there is no terminal for it. */
function createSearch(repl: () => Repl, terminal: ChatTerminal): CommandQuestions['search'] {
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
function createInput(repl: () => Repl, terminal: ChatTerminal): CommandQuestions['input'] {
  if (terminal !== 'full') return null;
  return async (question) =>
    await repl().ask(async (streams) => {
      const message = visibleLine(question);
      return await askQuestion((context) => input({ message, required: true }, context), streams);
    });
}

/** How the questions of slash commands are answered. */
interface ConfirmOptions {
  readonly repl: () => Repl;
  readonly terminal: ChatTerminal;
  /** Whether `-y` was given. */
  readonly yes: boolean;
}

/**
 * Asks the yes-or-no questions of slash commands. Without a user to ask, `-y` is the answer; without `-y` a `HiError`
 * of code `usage` is thrown.
 */
function createConfirm({ repl, terminal, yes }: ConfirmOptions): CommandQuestions['confirm'] {
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

/** The questions of the set-up, on the terminal. Each rejects as an interruption when the user cancels it. */
export interface Prompts {
  say(text: string): void;
  select<Value extends string>(message: string, choices: readonly (readonly [Value, string])[]): Promise<Value>;
  /** A choice among many, narrowed by typing. What is typed can be chosen too. */
  search(message: string, choices: readonly string[]): Promise<string>;
  input(message: string, check: (text: string) => true | string): Promise<string>;
  /** Input that is not shown. */
  secret(message: string, check: (text: string) => true | string): Promise<string>;
}

/**
 * Opens prompts on stderr, so that stdout stays free for answers. A question that is open when `signal` aborts rejects.
 */
export async function openPrompts(world: World, signal: AbortSignal): Promise<Prompts> {
  const streams = { input: world.stdin, output: world.stderr, signal };
  return {
    say: (text) => void world.stderr.write(`${wrapLines(text, world.stderr.columns ?? 80)}\n`),
    select: (message, choices) =>
      askQuestion(
        (context) => select({ message, choices: choices.map(([value, name]) => ({ value, name })) }, context),
        streams,
      ),
    search: (message, choices) =>
      askQuestion(
        (context) =>
          search(
            { message, source: (typed) => narrowed(choices, typed ?? '').map((value) => ({ value, name: value })) },
            context,
          ),
        streams,
      ),
    input: (message, check) => askQuestion((context) => input({ message, validate: check }, context), streams),
    secret: (message, check) =>
      askQuestion((context) => password({ message, mask: '*', validate: check }, context), streams),
  };
}

function narrowed(choices: readonly string[], typed: string): readonly string[] {
  const found = choices.filter((choice) => choice.toLowerCase().includes(typed.toLowerCase()));
  return typed === '' || choices.includes(typed) ? found : [...found, typed];
}

/** Asks where passages of a book may be sent. Rejects as an interruption if the user cancels the question. */
async function askAboutBook(book: string, server: string, streams: ApprovalStreams): ReturnType<AskAboutBook> {
  await streams.ready?.();
  const choices = [
    { value: 'never', name: 'never: they stay on this machine' },
    { value: 'this', name: `only to ${visibleLine(server)}` },
    { value: 'any', name: 'to any server' },
  ] as const;
  const message = `What was found in '${visibleLine(book)}', which you imported, would be sent to ${visibleLine(server)}. May its passages be sent?`;
  return await askQuestion((context) => select({ message, choices }, context), streams);
}

/**
 * Shows the files and asks whether the model may read them. Rejects as an interruption if the user cancels the
 * question.
 */
async function askAboutInstructions(files: readonly Instructions[], streams: ApprovalStreams): Promise<boolean> {
  const names = files.map(({ name }) => name).join(', ');
  const what = files.some(({ isSkill }) => isSkill) ? 'instructions and skills' : 'instructions';
  const message = `The model would read the ${what} of this project with every message: ${names}. Use them?`;
  return await askToAgree(files, message, streams);
}
