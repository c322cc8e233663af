import { HiError } from '../../errors.js';
import type { CommandGrant } from '../rules/rules.js';

/** A command cannot be shut in here, so it must not run unasked. `reason` is the same, with what to do, as a question gives it. */
export class NotConfinable extends HiError {
  readonly reason: string;

  constructor(reason: string, hint: string) {
    super('config', `Not run: ${reason}.`, { hint: `${hint}.` });
    this.reason = `${reason}; ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
  }
}

/** How a command is shut in: everything is read-only and no network is reached but for what `grant` says. All paths are real. */
export interface Confinement {
  readonly root: string;
  /** Where the command begins. */
  readonly folder: string;
  readonly grant: CommandGrant;
  /** What it does not see. */
  readonly hidden: readonly string[];
  /** What it sees though it lies in something hidden. */
  readonly readable: readonly string[];
  /** What it cannot change though it may write: other programs run something from there later. */
  readonly runsLater: readonly string[];
  /** The same, and not there yet. */
  readonly missing: readonly string[];
  /** Files that it sees as another file is: settings without the log-ins in them. */
  readonly replaced: readonly { readonly path: string; readonly by: string }[];
  /** An empty file, which is mounted over a hidden one: a device would be refused, and a search through the folder would fail. */
  readonly emptyFile: string;
  /** A folder for temporary files, where the sandbox has no empty /tmp of its own. */
  readonly temporary: string;
}
