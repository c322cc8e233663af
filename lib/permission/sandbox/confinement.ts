import { HiError } from '../../errors.js';
import type { CommandGrant } from '../rules/rules.js';

/** A command cannot be sandboxed here, so it must not run without approval. `reason` is the same text with a remedy, for the question. */
export class NotConfinable extends HiError {
  readonly reason: string;

  constructor(reason: string, hint: string) {
    super('config', `Not run: ${reason}.`, { hint: `${hint}.` });
    this.reason = `${reason}; ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
  }
}

/** How a command is sandboxed: everything is read-only and there is no network, except for what `grant` allows. Links in all paths are resolved. */
export interface Confinement {
  readonly root: string;
  /** The folder that the command starts in. */
  readonly folder: string;
  readonly grant: CommandGrant;
  /** Paths that it cannot see. */
  readonly hidden: readonly string[];
  /** Paths that it can see although they are inside a hidden one. */
  readonly readable: readonly string[];
  /** Paths that it cannot change even if it may write, because other programs run something from there later. */
  readonly runsLater: readonly string[];
  /** The same for files that do not exist yet. */
  readonly missing: readonly string[];
  /** Files that it sees with other contents: settings without the credentials in them. */
  readonly replaced: readonly { readonly path: string; readonly by: string }[];
  /** An empty file, which is mounted over hidden files. Opening a device there would fail, and with it a search through the folder. */
  readonly emptyFile: string;
  /** A folder for temporary files, for a sandbox without an empty /tmp of its own. */
  readonly temporary: string;
}
