import type { Repl, ReplDeps } from './repl.js';
import { createScriptRepl } from './script-repl.js';
import { createTerminalRepl } from './terminal-repl.js';

/** The REPL for these streams: with line editing on a terminal that can, else line by line. Nothing happens before `run`. */
export function createRepl(deps: ReplDeps): Repl {
  const canEdit = deps.stdin.isTTY && deps.terminal.isTTY && !deps.isDumb;
  return canEdit ? createTerminalRepl(deps) : createScriptRepl(deps);
}
