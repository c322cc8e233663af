import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChatEvent, TurnReport } from '../../lib/chat/event.js';
import { askQuestion } from '../../lib/cli/ask/terminal-question.js';
import { HiError } from '../../lib/errors.js';
import { ViKeys } from '../../lib/repl/editing/vi-keys.js';
import type { Repl, SubmittedLine } from '../../lib/repl/repl.js';
import { createRepl } from '../../lib/repl/terminal-repl.js';
import { StyledAnswerWriter } from '../../lib/screen/answer-writer.js';
import { Screen } from '../../lib/screen/screen.js';

/**
 * A program with the real REPL and screen and a conversation made up on the spot: the first word of the input says what
 * happens. What was submitted is appended to the file in `DRIVER_LOG`, one JSON object a line.
 */
const {
  DRIVER_LOG = '/dev/null',
  DRIVER_HISTORY = '/dev/null',
  DRIVER_EDITOR = null,
  DRIVER_KEYS = 'emacs',
  DRIVER_BACKGROUND,
} = process.env;

const isTerminal = process.stdout.isTTY === true;
const screen = new Screen(
  {
    out: process.stdout,
    err: process.stderr,
    outIsTerminal: isTerminal,
    errIsTerminal: process.stderr.isTTY === true,
    colour: { out: isTerminal, err: process.stderr.isTTY === true },
    columns: () => process.stdout.columns ?? 80,
  },
  { quiet: false, styled: StyledAnswerWriter, thinking: true, now: Date.now },
);

const repl: Repl = createRepl({
  terminal: { input: process.stdin, output: process.stdout, isDumb: false, colour: isTerminal },
  screen,
  prompt: () => 'hi> ',
  submit,
  completion: {
    commands: [
      { name: 'model', summary: 'Changes the model.', complete: async () => ['small-fast', 'small-cheap', 'large'] },
      { name: 'modest', summary: 'Exists to begin like another.' },
      { name: 'quit', aliases: ['exit', 'bye'], summary: 'Leaves.' },
    ],
    cwd: { now: process.cwd() },
    home: homedir(),
  },
  first: null,
  inputHistory: { file: DRIVER_HISTORY, isKept: () => true },
  editing: {
    modalKeys: DRIVER_KEYS === 'vi' ? new ViKeys() : null,
    longPaste: 200,
    editor: DRIVER_EDITOR,
    escapeCommand: '/rewind',
    pasteImage: async () => null,
  },
  window: {
    title: null,
    background: DRIVER_BACKGROUND === undefined ? null : () => {},
    attention: '',
    showsTypedAhead: true,
  },
});

async function* submit(line: SubmittedLine, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  appendFileSync(DRIVER_LOG, `${JSON.stringify(line)}\n`);
  const [word = '', ...rest] = line.text.split(' ');
  yield { type: 'request', provider: 'driver', model: 'driver-1', context_tokens: 10 };
  yield* (SCENES[word] ?? echo)(rest.join(' '), signal);
}

type Scene = (argument: string, signal: AbortSignal) => AsyncGenerator<ChatEvent>;

const SCENES: Readonly<Record<string, Scene>> = {
  /** Words until it is stopped. */
  async *slow(_, signal) {
    for (let word = 1; word <= 1000 && !signal.aborted; word += 1) {
      yield text(`word${word} `);
      await delay(10);
    }
    if (DRIVER_LOG !== '/dev/null') appendFileSync(`${DRIVER_LOG}.ended`, signal.aborted ? 'interrupted' : 'end');
    yield end(signal.aborted ? 'interrupted' : 'end');
  },
  /** Nothing visible for a while, whatever the signal says. */
  async *stubborn(milliseconds) {
    await delay(Number(milliseconds));
    yield text('done at last\n');
    yield end('end');
  },
  async *silent(milliseconds, signal) {
    await delay(Number(milliseconds), null, { signal });
    yield text('silence is over\n');
    yield end('end');
  },
  async *say(words) {
    yield text(words);
    yield end('end');
  },
  async *escapes() {
    yield text('before \x1b[31mred\x1b[0m \x1b]0;title\x07 after\n');
    yield end('end');
  },
  async *tool() {
    yield { type: 'tool-start', call_id: '1', name: 'bash', args: { command: 'ls' } };
    yield { type: 'tool-output', call_id: '1', text: 'one\ntwo\x1b[2J\n', lines: 2 };
    await delay(300);
    yield { type: 'tool-end', call_id: '1', name: 'bash', result: { exit_code: 0 } };
    yield text('There are two files.');
    yield end('end');
  },
  async *question(name) {
    const { confirm } = await import('@inquirer/prompts');
    const answer = await repl.ask(({ input, output, signal }) =>
      askQuestion((asking) => confirm({ message: `Allow ${name}?`, default: false }, asking), {
        input,
        output,
        signal,
      }),
    );
    yield text(`answered ${answer}\n`);
    yield end('end');
  },
  async *lend(command) {
    const { execSync } = await import('node:child_process');
    await repl.releaseTerminal(async () => execSync(command, { stdio: 'inherit' }));
    yield end('end');
  },
  async *prefill(words) {
    repl.prefill(words);
    yield end('end');
  },
  async *fail(words) {
    yield text('so far ');
    throw new HiError('overload', words, { hint: 'Try again later.' });
  },
  async *crash() {
    setImmediate(() => {
      throw new Error('crashed on purpose');
    });
    await delay(1000);
  },
  async *'/quit'() {
    repl.quit();
    yield { type: 'notice', level: 'info', text: 'Goodbye.' };
  },
};

async function* echo(argument: string): AsyncGenerator<ChatEvent> {
  yield text(`echo ${argument.length}\n`);
  yield end('end');
}

const text = (words: string): ChatEvent => ({ type: 'text', text: words });

function end(stop_reason: TurnReport['stop_reason']): ChatEvent {
  const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, context_tokens: 2 };
  const report = {
    provider: 'driver',
    model: 'driver-1',
    usage,
    tool_calls: [],
    sources: [],
    images: [],
    compaction: null,
    turn: 1,
  };
  return { type: 'turn-end', text: '', stop_reason, ...report };
}

process.exitCode = await repl.run();
