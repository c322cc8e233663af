import { createInterface } from 'node:readline';
import { asHiError, EXIT_STATUS, HiError, isAbort } from '../errors.js';
import type { Repl, ReplDeps } from './repl.js';
import { STOP_SIGNALS, statusAfter } from './stop-signals.js';

/**
 * A REPL without a terminal: each line of the input is a turn; blank lines are none. A turn that fails does not stop the next.
 * A terminal that cannot move its cursor (`TERM=dumb`) edits its line itself and gets a prompt; there Ctrl-C stops the answer first.
 */
export function createScriptRepl(deps: ReplDeps): Repl {
  const { screen } = deps;
  const isTyped = deps.stdin.isTTY === true && deps.terminal.isTTY === true;
  const all = new AbortController();
  let turn: AbortController | null = null;
  let isOver = false;

  async function send(text: string): Promise<number> {
    turn = new AbortController();
    const signal = AbortSignal.any([turn.signal, all.signal]);
    try {
      await screen.follow(await deps.submit({ shown: text, text, pasted: [] }, signal));
      return 0;
    } catch (thrown) {
      if (isAbort(thrown)) return EXIT_STATUS.interrupted;
      const error = asHiError(thrown);
      screen.error(error);
      return EXIT_STATUS[error.code];
    } finally {
      turn = null;
      screen.close();
    }
  }

  async function prompt(): Promise<void> {
    if (isTyped) deps.terminal.write(await deps.prompt());
  }

  return {
    async run() {
      const { signal } = all;
      let stoppedBy: NodeJS.Signals | null = null;
      const stop = (name: NodeJS.Signals): void => {
        if (name === 'SIGINT' && isTyped && turn !== null) {
          turn.abort();
          return;
        }
        stoppedBy = name;
        all.abort();
        // The same signal once more ends the process, whatever it is still waiting for.
        process.off(name, stop);
      };
      for (const name of STOP_SIGNALS) process.on(name, stop);
      let status = 0;
      try {
        await prompt();
        for await (const line of createInterface({ input: deps.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
          if (line.trim() !== '') status = (await send(line)) || status;
          if (isOver || signal.aborted) break;
          await prompt();
        }
        if (isTyped && !isOver) deps.terminal.write('\n');
        await screen.flush();
        if (stoppedBy !== null) return statusAfter(stoppedBy);
        return isTyped ? 0 : status;
      } finally {
        for (const name of STOP_SIGNALS) process.off(name, stop);
      }
    },
    ask: () => Promise.reject(nobodyThere('ask')),
    edit: () => Promise.reject(nobodyThere('open an editor for')),
    lend: () => Promise.reject(nobodyThere('lend the terminal to')),
    prefill() {},
    giveBack() {},
    quit() {
      isOver = true;
    },
  };
}

function nobodyThere(what: string): HiError {
  return new HiError('usage', `There is no terminal and so nobody to ${what}.`, { hint: 'Run hi chat in a terminal.' });
}
