import { createInterface } from 'node:readline';
import { asHiError, EXIT_STATUS, HiError, isAbort } from '../errors.js';
import { STOP_SIGNALS, statusAfter } from '../processes.js';
import type { Repl, ReplDeps } from './repl.js';

/**
 * A REPL without line editing: each line of the input that is not blank is a turn. A turn that fails does not stop the
 * next one. On a dumb terminal (`TERM=dumb`), which edits its line itself, it prints a prompt, and Ctrl-C stops the
 * answer before the program.
 */
export class ScriptRepl implements Repl {
  readonly #deps: ReplDeps;
  readonly #isInteractive: boolean;
  /** Aborted by a signal that ends the program. */
  readonly #stop = new AbortController();
  #stoppedBy: NodeJS.Signals | null = null;
  #turn: AbortController | null = null;
  #isQuit = false;

  constructor(deps: ReplDeps) {
    this.#deps = deps;
    this.#isInteractive = deps.terminal.input.isTTY === true && deps.terminal.output.isTTY === true;
  }

  async run(): Promise<number> {
    for (const name of STOP_SIGNALS) process.on(name, this.#onSignal);
    try {
      const status = await this.#readLines();
      if (this.#isInteractive && !this.#isQuit) this.#deps.terminal.output.write('\n');
      await this.#deps.screen.flush();
      if (this.#stoppedBy !== null) return statusAfter(this.#stoppedBy);
      return this.#isInteractive ? 0 : status;
    } finally {
      for (const name of STOP_SIGNALS) process.off(name, this.#onSignal);
    }
  }

  ask(): Promise<never> {
    return Promise.reject(noTerminal('ask a question'));
  }

  edit(): Promise<never> {
    return Promise.reject(noTerminal('open an editor'));
  }

  releaseTerminal(): Promise<never> {
    return Promise.reject(noTerminal('run an interactive program'));
  }

  prefill(): void {}

  restoreInput(): void {}

  quit(): void {
    this.#isQuit = true;
  }

  /** Resolves to the status of the last turn that failed, or 0. */
  async #readLines(): Promise<number> {
    const { signal } = this.#stop;
    let status = 0;
    await this.#prompt();
    for await (const line of createInterface({
      input: this.#deps.terminal.input,
      crlfDelay: Number.POSITIVE_INFINITY,
      signal,
    })) {
      if (line.trim() !== '') status = (await this.#submit(line)) || status;
      if (this.#isQuit || signal.aborted) break;
      await this.#prompt();
    }
    return status;
  }

  async attributes(): Promise<string> {
    return '';
  }

  async #prompt(): Promise<void> {
    if (this.#isInteractive) this.#deps.terminal.output.write(await this.#deps.prompt());
  }

  async #submit(text: string): Promise<number> {
    const { screen } = this.#deps;
    this.#turn = new AbortController();
    const signal = AbortSignal.any([this.#turn.signal, this.#stop.signal]);
    try {
      await screen.follow(await this.#deps.submit({ shown: text, text, pasted: [] }, signal));
      return 0;
    } catch (thrown) {
      if (isAbort(thrown)) return EXIT_STATUS.interrupted;
      const error = asHiError(thrown);
      screen.error(error);
      return EXIT_STATUS[error.code];
    } finally {
      this.#turn = null;
      screen.close();
    }
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGINT' && this.#isInteractive && this.#turn !== null) {
      this.#turn.abort();
      return;
    }
    this.#stoppedBy = name;
    this.#stop.abort();
    // The same signal again ends the process, whatever is still running.
    process.off(name, this.#onSignal);
  };
}

function noTerminal(action: string): HiError {
  return new HiError('usage', `Cannot ${action} without a terminal.`, { hint: "Run 'hi chat' in a terminal." });
}
