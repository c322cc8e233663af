import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { asHiError, isAbort } from '../errors.js';
import { openInputHistory } from './input-history.js';
import { createInputParser } from './input-parser.js';
import { LongPastes } from './long-pastes.js';
import { PromptLine } from './prompt-line.js';
import type { Repl, ReplDeps, SubmittedLine } from './repl.js';
import { createTerminal } from './terminal.js';

/** A question waits until the keys have been silent this long, so that it does not come up under typing hands. Milliseconds. */
const TYPING_PAUSE = 400;
/** How much of a paste goes into a question, which is drawn anew for each character. */
const QUESTION_PASTE = 2000;
/** How long a turn may take to end when the program is told to leave, before it leaves anyway. Milliseconds. */
const LEAVE_PATIENCE = 2000;

/** A REPL at a terminal, which it takes over: one loop of reading a line and acting on it, with the keys listened to at all times. */
export function createTerminalRepl(deps: ReplDeps): Repl {
  const { screen } = deps;
  let turn: AbortController | null = null;
  let question: PassThrough | null = null;
  let typedAt = Number.NEGATIVE_INFINITY;
  let status: number | null = null;

  const terminal = createTerminal(deps.stdin, deps.terminal, {
    data: (bytes) => parser.write(bytes),
    redraw: () => line.draw(),
    leave,
  });

  const line = new PromptLine({
    terminal,
    colour: deps.colour,
    longPastes: new LongPastes(deps.longPaste),
    history: openInputHistory(deps.inputHistoryFile),
    completion: deps,
    interrupt,
    edit: (text) =>
      edit(text).catch((thrown: unknown) => {
        screen.error(asHiError(thrown));
        screen.close();
        return null;
      }),
  });

  const parser = createInputParser({
    key(text, key) {
      typedAt = performance.now();
      if (question === null || turn?.signal.aborted) line.key(text, key);
      else if (key.ctrl && key.name === 'c') interrupt();
      else if (key.ctrl && key.name === 'z') terminal.suspend();
      else question.write(key.sequence ?? text);
    },
    paste(text) {
      if (question === null || turn?.signal.aborted) line.paste(text);
      else question.write(typedOut(text));
    },
    escape() {
      if (turn === null) line.escape();
      else turn.abort();
    },
    settled: () => line.draw(),
  });

  /** Stops the turn. Where the turn does not obey, asking twice more leaves the program. */
  function interrupt(): void {
    if (turn === null) return;
    if (turn.signal.aborted) line.leaveOnSecond(() => leave(130));
    turn.abort();
  }

  function leave(next: number): void {
    status = next;
    turn?.abort();
    line.leave(next);
    setTimeout(() => terminal.abandon(next), LEAVE_PATIENCE).unref();
  }

  async function act(submitted: SubmittedLine): Promise<void> {
    turn = new AbortController();
    const { signal } = turn;
    try {
      await screen.follow(await deps.submit(submitted, signal));
      if (signal.aborted) line.takeBack();
    } catch (thrown) {
      line.takeBack();
      if (isAbort(thrown)) screen.notice('(interrupted)', 'info');
      else screen.error(asHiError(thrown));
    } finally {
      turn = null;
      screen.close();
      terminal.write('\n');
    }
  }

  async function lend<Result>(use: () => Promise<Result>): Promise<Result> {
    const resume = screen.yield();
    try {
      return await terminal.lend(use);
    } finally {
      resume();
    }
  }

  async function edit(text: string): Promise<string> {
    const { editExternally } = await import('./external-editor.js');
    return await lend(() => editExternally(text, deps.editor));
  }

  return {
    async run() {
      const keepUnsent = (): void => line.keepUnsent();
      terminal.open();
      // Also after a crash: Node tells its `exit` listeners then too.
      process.on('exit', keepUnsent);
      try {
        while (status === null) {
          const read = await line.read(await deps.prompt());
          if ('leave' in read) return read.leave;
          await act(read.line);
        }
        return status;
      } finally {
        process.off('exit', keepUnsent);
        keepUnsent();
        parser.close();
        terminal.close();
      }
    },
    async ask(ask) {
      const signal = turn?.signal ?? new AbortController().signal;
      const left = (): number => typedAt + TYPING_PAUSE - performance.now();
      while (left() > 0) await delay(left(), null, { signal });
      const resume = screen.yield();
      question = new PassThrough();
      try {
        return await ask({ input: question, output: deps.terminal, signal });
      } catch (thrown) {
        // A question that is left stops what asked it, whichever key it was left with.
        if (isAbort(thrown)) turn?.abort();
        signal.throwIfAborted();
        throw thrown;
      } finally {
        question = null;
        resume();
      }
    },
    edit,
    lend,
    prefill: (text) => line.prefill(text),
    giveBack: () => line.giveBack(),
    quit() {
      status = 0;
    },
  };
}

/** A paste as it is typed into a question: nothing in it is a key, least of all the one that answers. */
const typedOut = (text: string): string => text.slice(0, QUESTION_PASTE).replace(/\p{Cc}+/gu, ' ');
