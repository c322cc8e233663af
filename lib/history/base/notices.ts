import { HiError, systemCode } from '../../errors.js';

/** Notices for the user about the history, in order, each only once. */
export class Notices {
  readonly #seen = new Set<string>();
  #pending: string[] = [];

  /** Adds a sentence unless it was added before. */
  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#pending.push(text);
  }

  /** The sentences since the last call. The caller shows them. */
  take(): readonly string[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}

/** Runs `work`. Turns system errors into a `HiError` that names the path. */
export async function withHistoryErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw asHistoryError(thrown, path);
  }
}

/** A failed file operation as a `HiError` that names the path and the remedy; anything else is returned unchanged. */
export function asHistoryError(thrown: unknown, path: string): unknown {
  const code = systemCode(thrown);
  if (code === null) return thrown;
  const [happened, hint] = notAFile(thrown, code) ?? explained(code, path);
  return new HiError('history', happened ?? `The history '${path}' cannot be used (${code}).`, { hint, cause: thrown });
}

/** The message for a folder or a device in place of one of hi's files, which need not be the history. */
function notAFile(thrown: unknown, code: string): readonly [happened: string, hint: string] | null {
  const what = code === 'EISDIR' ? 'folder' : code === 'EFTYPE' ? 'pipe or a device' : null;
  if (what === null || typeof thrown !== 'object' || thrown === null || !('path' in thrown)) return null;
  return [`'${thrown.path}' is a ${what}, not a file.`, 'Move it away and start again.'];
}

function explained(code: string, path: string): readonly [happened: string | null, hint: string] {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return [
        `The disk is full: the history '${path}' could not be written.`,
        'Free some space and try again. Everything that was in it is still there.',
      ];
    case 'EFBIG':
      return [
        `The history '${path}' cannot grow: the file size limit is reached.`,
        'Raise it (ulimit -f) and try again. Everything that was in it is still there.',
      ];
    case 'EROFS':
      return [
        `The history '${path}' is on a read-only file system.`,
        'Set HI_DATA_DIR to a writable folder, or use --ephemeral to keep nothing.',
      ];
    case 'EACCES':
    case 'EPERM':
      return [
        `Permission denied for the history '${path}'.`,
        'Check its owner and mode (ls -ld), set HI_DATA_DIR to a folder of yours, or use --ephemeral to keep nothing.',
      ];
    case 'ENOTDIR':
      return [
        `Part of the path of the history '${path}' is a file, not a folder.`,
        'Move that file away, or set HI_DATA_DIR.',
      ];
    default:
      return [null, 'Check the folder and its disk, or set HI_DATA_DIR to another folder.'];
  }
}

/** Receives the progress of a long operation. At the end `done` equals `all`. */
type ProgressListener = (what: string, done: number, all: number) => void;

/** Operations on the file are synchronous, so there is only one at a time. */
let listener: ProgressListener | null = null;

/** Sets the listener; null for none. */
export function listenToProgress(next: ProgressListener | null): void {
  listener = next;
}

/** Reports progress. Operations that may take long call it for every piece. */
export function progress(what: string, done: number, all: number): void {
  if (listener !== null) listener(what, done, all);
}

/** Yields the groups and reports progress towards the entry with the id `last`; `what` names the operation. */
export function* watched<Group extends readonly { readonly id: number }[]>(
  what: string,
  groups: Iterable<Group>,
  last: number,
): Generator<Group> {
  try {
    for (const entries of groups) {
      progress(what, entries[0]?.id ?? 0, last);
      yield entries;
    }
  } finally {
    progress(what, last, last);
  }
}
