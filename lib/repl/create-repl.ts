import type { Repl, ReplDeps } from './repl.js';
import { ScriptRepl } from './script-repl.js';
import { TerminalRepl } from './terminal-repl.js';

/** Chooses the REPL for these streams: with line editing on a terminal that supports it, else line by line. Nothing starts before `run`. */
export function createRepl(deps: ReplDeps): Repl {
  const canEdit = deps.stdin.isTTY && deps.terminal.isTTY && !deps.isDumb;
  return canEdit ? new TerminalRepl(deps) : new ScriptRepl(deps);
}
