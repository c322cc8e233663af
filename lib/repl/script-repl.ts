import { createInterface } from 'node:readline';
import { asHiError, EXIT_STATUS, HiError, isAbort } from '../errors.js';
import type { Repl, ReplDeps } from './repl.js';
import { STOP_SIGNALS, statusAfter } from './stop-signals.js';

/** A REPL without a terminal: each line of the input is a turn; blank lines are none. A turn that fails does not stop the next. */
export function createScriptRepl(deps: ReplDeps): Repl {
  const { screen } = deps;
  const turn = new AbortController();
  let isOver = false;

  async function send(text: string): Promise<number> {
    try {
      await screen.follow(await deps.submit({ shown: text, text, pasted: [] }, turn.signal));
      return 0;
    } catch (thrown) {
      if (isAbort(thrown)) return EXIT_STATUS.interrupted;
      const error = asHiError(thrown);
      screen.error(error);
      return EXIT_STATUS[error.code];
    } finally {
      screen.close();
    }
  }

  return {
    async run() {
      const { signal } = turn;
      let stoppedBy: NodeJS.Signals | null = null;
      const stop = (name: NodeJS.Signals): void => {
        stoppedBy = name;
        turn.abort();
      };
      for (const name of STOP_SIGNALS) process.once(name, stop);
      let status = 0;
      try {
        for await (const line of createInterface({ input: deps.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
          if (line.trim() !== '') status = (await send(line)) || status;
          if (isOver || signal.aborted) break;
        }
        await screen.flush();
        return stoppedBy === null ? status : statusAfter(stoppedBy);
      } finally {
        for (const name of STOP_SIGNALS) process.off(name, stop);
      }
    },
    ask: () => Promise.reject(nobodyThere('ask')),
    edit: () => Promise.reject(nobodyThere('open an editor for')),
    lend: () => Promise.reject(nobodyThere('lend the terminal to')),
    prefill() {},
    quit() {
      isOver = true;
    },
  };
}

function nobodyThere(what: string): HiError {
  return new HiError('usage', `There is no terminal and so nobody to ${what}.`, { hint: 'Run hi chat in a terminal.' });
}
