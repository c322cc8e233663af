import type { Key } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as delay, setTimeout as sleep } from 'node:timers/promises';
import { asHiError, isAbort } from '../errors.js';
import { interruptWaits } from '../waits.js';
import { OUTPUT_END, OUTPUT_START } from './drawing/line-renderer.js';
import { LongPastes } from './editing/long-pastes.js';
import { InputHistory } from './input-history.js';
import { PromptLine } from './prompt-line.js';
import type { QuestionTerminal, Repl, ReplDeps, SubmittedLine } from './repl.js';
import { ScriptRepl } from './script-repl.js';
import { editExternally } from './terminal/external-editor.js';
import {
  ATTRIBUTES_LIMIT,
  ATTRIBUTES_QUERY,
  BACKGROUND_QUERY,
  InputParser,
  isLight,
  PASTE_END,
  PASTE_START,
} from './terminal/input-parser.js';
import { Terminal } from './terminal/terminal.js';

/** How many characters of a paste a question gets. A question is redrawn for each character. */
const MAX_QUESTION_PASTE = 2000;
/** An answer or a question that takes longer calls for attention, if the terminal has lost the focus. Milliseconds. */
const LONG_TURN = 10_000;
/** What a terminal sends when it gains or loses the focus. */
const FOCUS_IN = '\x1b[I';
const FOCUS_OUT = '\x1b[O';
/** How long a turn may take to end after a signal to exit, in milliseconds. */
const EXIT_TIMEOUT = 2000;

/** A REPL with line editing. It reads a line and processes it, in a loop, and handles keys at all times. */
class TerminalRepl implements Repl {
  readonly #deps: ReplDeps;
  readonly #terminal: Terminal;
  readonly #line: PromptLine;
  readonly #parser: InputParser;
  /** Aborts the turn that is running; null between turns. */
  #turn: AbortController | null = null;
  /** Where the keys go while a question is open. */
  #question: PassThrough | null = null;
  readonly #pause = new TypingPause();
  #begunAt = 0;
  /** False while the terminal reports that the user looks at something else. */
  #hasFocus = true;
  readonly #title: WindowTitle | null;
  /** The exit status, once the program should exit. */
  #status: number | null = null;
  #attributes: Promise<string> | null = null;
  readonly #background: BackgroundQuery;

  constructor(deps: ReplDeps) {
    this.#deps = deps;
    const { terminal, window, editing, inputHistory } = deps;
    this.#background = new BackgroundQuery(window.background);
    this.#terminal = new Terminal(terminal.input, terminal.output, {
      data: (bytes) => this.#parser.write(bytes),
      redraw: () => this.#line.draw(),
      suspend: () => (this.#turn === null || this.#question !== null ? () => {} : deps.screen.leave()),
      exit: (status) => this.#exit(status),
    });
    this.#title = window.title === null ? null : new WindowTitle(window.title, this.#terminal);
    this.#line = new PromptLine({
      terminal: this.#terminal,
      colour: terminal.colour,
      longPastes: new LongPastes(editing.longPaste),
      history: new InputHistory(inputHistory.file, () => inputHistory.isKept()),
      editing,
      completion: deps.completion,
      showBelow: (rows) => window.showsTypedAhead && deps.screen.showBelow(rows),
      first: deps.first,
      interrupt: () => this.#interrupt(),
      edit: (text) => this.#editLine(text),
    });
    this.#parser = new InputParser({
      key: (text, key) => this.#key(text, key),
      paste: (text) => this.#paste(text),
      escape: () => this.#escape(),
      ...(window.background !== null && { background: (colour) => this.#background.answer(colour) }),
      settled: () => this.#line.draw(),
    });
  }

  async run(): Promise<number> {
    const leave = (): void => {
      this.#line.saveUnsent();
      this.#title?.close();
    };
    this.#terminal.open();
    this.#background.ask((text) => this.#terminal.write(text));
    this.#title?.open();
    // Node runs its `exit` listeners after a crash too.
    process.on('exit', leave);
    try {
      while (this.#status === null) {
        const result = await this.#line.read(await this.#deps.prompt());
        if ('exit' in result) return result.exit;
        await this.#process(result.line);
      }
      return this.#status;
    } finally {
      process.off('exit', leave);
      leave();
      // The terminal's answer would become input of the shell.
      this.#parser.ignoreKeys();
      await this.#background.settled();
      this.#parser.close();
      this.#terminal.close();
    }
  }

  async ask<Answer>(question: (terminal: QuestionTerminal) => Promise<Answer>): Promise<Answer> {
    const signal = this.#turn?.signal ?? new AbortController().signal;
    await this.#pause.wait(signal);
    this.#callAttention();
    const resume = this.#deps.screen.pause();
    const input = new PassThrough();
    this.#question = input;
    try {
      return await question({
        input,
        output: this.#deps.terminal.output,
        signal,
        ready: () => this.#open(input, signal),
      });
    } catch (thrown) {
      // Cancelling a question, with whichever key, stops the turn that asked it.
      if (isAbort(thrown)) this.#turn?.abort();
      signal.throwIfAborted();
      throw thrown;
    } finally {
      this.#question = null;
      resume();
    }
  }

  async edit(text: string): Promise<string> {
    return await this.releaseTerminal(() => editExternally(text, this.#deps.editing.editor));
  }

  async releaseTerminal<Result>(run: () => Promise<Result>): Promise<Result> {
    const resume = this.#deps.screen.pause();
    try {
      return await this.#terminal.release(run);
    } finally {
      resume();
    }
  }

  prefill(text: string): void {
    this.#line.prefill(text);
  }

  restoreInput(mention: string): void {
    this.#line.requeueSubmitted(mention);
  }

  quit(): void {
    this.#status = 0;
  }

  async #process(submitted: SubmittedLine): Promise<void> {
    const { screen } = this.#deps;
    this.#turn = new AbortController();
    const { signal } = this.#turn;
    this.#begunAt = performance.now();
    this.#title?.show(true);
    this.#terminal.write(OUTPUT_START);
    this.#line.draw();
    try {
      await screen.follow(this.#deps.submit(submitted, signal));
      if (signal.aborted) this.#line.restoreQueued();
    } catch (thrown) {
      this.#line.restoreQueued();
      if (isAbort(thrown)) screen.notice('(interrupted)', 'info');
      else screen.error(asHiError(thrown));
    } finally {
      this.#turn = null;
      screen.close();
      this.#terminal.write(`${OUTPUT_END}\n`);
      this.#title?.show(false);
      if (!signal.aborted) this.#callAttention();
    }
  }

  attributes(): Promise<string> {
    this.#attributes ??= new Promise((resolve) => {
      this.#parser.expectAttributes(resolve);
      this.#terminal.write(ATTRIBUTES_QUERY);
      setTimeout(resolve, ATTRIBUTES_LIMIT, '').unref();
    });
    return this.#attributes;
  }

  #callAttention(): void {
    if (!this.#hasFocus && performance.now() - this.#begunAt > LONG_TURN)
      this.#terminal.write(this.#deps.window.attention);
  }

  /** The question that gets the keys. A question that is being cancelled gets no more keys. */
  #openQuestion(): PassThrough | null {
    return this.#turn?.signal.aborted ? null : this.#question;
  }

  #key(text: string, key: Key): void {
    if (key.sequence === FOCUS_IN || key.sequence === FOCUS_OUT) {
      this.#hasFocus = key.sequence === FOCUS_IN;
      return;
    }
    this.#pause.typed();
    const question = this.#openQuestion();
    if (question === null) this.#line.key(text, key);
    else if (key.ctrl && key.name === 'c') this.#interrupt();
    else if (key.ctrl && key.name === 'z') this.#terminal.suspend();
    else question.write(key.sequence ?? text);
  }

  /** Leaves vi's insert mode if text is being typed; otherwise stops the turn. */
  #escape(): void {
    if (this.#turn === null) this.#line.escape();
    else if (this.#openQuestion() === null && (this.#line.leaveInsertMode() || this.#deps.skipWait?.())) return;
    else this.#stop();
  }

  #paste(text: string): void {
    const question = this.#openQuestion();
    if (question === null) this.#line.paste(text);
    else question.write(`${PASTE_START}${withoutKeys(text)}${PASTE_END}`);
  }

  /** Stops the turn. If the turn does not end, pressing Ctrl-C twice more exits. */
  #interrupt(): void {
    if (this.#turn === null) return;
    if (this.#turn.signal.aborted && this.#line.interruption.press()) this.#exit(130);
    this.#stop();
  }

  #stop(): void {
    this.#turn?.abort();
    interruptWaits();
  }

  #exit(status: number): void {
    this.#status = status;
    this.#stop();
    this.#line.exit(status);
    setTimeout(() => {
      this.#deps.screen.close();
      this.#terminal.closeAndExit(status);
    }, EXIT_TIMEOUT).unref();
  }

  /** Sends keys to the question from now on. Keys that came while it was prepared are typed ahead. */
  async #open(input: PassThrough, signal: AbortSignal): Promise<void> {
    this.#question = null;
    await this.#pause.wait(signal);
    input.read();
    this.#question = input;
  }

  async #editLine(text: string): Promise<string | null> {
    try {
      return await this.edit(text);
    } catch (thrown) {
      this.#deps.screen.error(asHiError(thrown));
      this.#deps.screen.close();
      return null;
    }
  }
}

/**
 * A paste for a question, between paste markers. Control characters are removed, so nothing in it acts as a key, least
 * of all as Enter.
 */
function withoutKeys(text: string): string {
  return text.slice(0, MAX_QUESTION_PASTE).replace(/\p{Cc}+/gu, ' ');
}

/**
 * Chooses the REPL for these streams: with line editing on a terminal that supports it, else line by line. Nothing
 * starts before `run`.
 */
export function createRepl(deps: ReplDeps): Repl {
  const { input, output, isDumb } = deps.terminal;
  const canEdit = input.isTTY && output.isTTY && !isDumb;
  return canEdit ? new TerminalRepl(deps) : new ScriptRepl(deps);
}

/** How long the keys must rest before a question is shown. A key held down starts to repeat after 660. Milliseconds. */
const LENGTH = 700;

/** Waits for a pause in the typing, so that a key meant for the line does not answer a question. */
class TypingPause {
  #typedAt = Number.NEGATIVE_INFINITY;

  typed(): void {
    this.#typedAt = performance.now();
  }

  /**
   * Resolves when no key has come for a while, counting keys that arrived but are not read yet. Rejects when the signal
   * aborts.
   */
  async wait(signal: AbortSignal): Promise<void> {
    await delay(1, null, { signal });
    for (let left = this.#left(); left > 0; left = this.#left()) await delay(left, null, { signal });
  }

  #left(): number {
    return this.#typedAt + LENGTH - performance.now();
  }
}

/** How long the terminal may take to answer, in milliseconds. */
const LIMIT = 500;

/** Asks the terminal whether its background is light, and keeps track of whether the answer may still come. */
class BackgroundQuery {
  readonly #onAnswer: ((isLight: boolean) => void) | null;
  readonly #answered = new AbortController();
  #due = Number.NEGATIVE_INFINITY;

  /** With null, nothing is asked. */
  constructor(onAnswer: ((isLight: boolean) => void) | null) {
    this.#onAnswer = onAnswer;
  }

  ask(write: (text: string) => void): void {
    if (this.#onAnswer === null) return;
    this.#due = performance.now() + LIMIT;
    write(BACKGROUND_QUERY);
  }

  answer(colour: string): void {
    this.#answered.abort();
    const light = isLight(colour);
    if (light !== null) this.#onAnswer?.(light);
  }

  /** Resolves when no answer is expected any more; at once if none was asked for. */
  async settled(): Promise<void> {
    const left = this.#due - performance.now();
    if (left > 0) await sleep(left, undefined, { signal: this.#answered.signal }).catch(() => undefined);
  }
}

/**
 * The title of the terminal's window while the program runs. The previous one comes back afterwards, if the terminal
 * supports that.
 */
class WindowTitle {
  readonly #title: string;
  readonly #terminal: { write(text: string): void };
  #isOpen = false;

  constructor(title: string, terminal: { write(text: string): void }) {
    this.#title = title;
    this.#terminal = terminal;
  }

  open(): void {
    this.#isOpen = true;
    this.#terminal.write('\x1b[22;2t');
    this.show(false);
  }

  /** Shows in the title whether an answer is awaited. */
  show(isAnswering: boolean): void {
    this.#terminal.write(`\x1b]2;${isAnswering ? '… ' : ''}${this.#title}\x1b\\`);
  }

  close(): void {
    if (this.#isOpen) this.#terminal.write('\x1b[23;2t');
    this.#isOpen = false;
  }
}
