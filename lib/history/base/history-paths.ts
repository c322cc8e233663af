import { closeSync, copyFileSync, fsyncSync, linkSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The paths of one conversation in the data folder. */
export interface HistoryPaths {
  readonly folder: string;
  /** The conversation. */
  readonly history: string;
  /** The copy of the conversation before the last reset. */
  readonly resetCopy: string;
  /** The temporary name of a conversation while an undo swaps it with the copy. */
  readonly swap: string;
  /** The prefix of a new file that is being written to replace the history; the name of its process follows. */
  readonly tempPrefix: string;
  /** The prefix of a kept damaged or edited file; the date follows. */
  readonly damagedPrefix: string;
  /** The images and documents of the conversation and of the copy, named by their hash. */
  readonly attachments: string;
  /** The last turn whose crash was reported. */
  readonly reportedCrashes: string;
}

/** The paths in `folder`. */
export function historyPathsIn(folder: string): HistoryPaths {
  return {
    folder,
    ...conversationPaths(join(folder, 'history')),
    attachments: join(folder, 'attachments'),
    reportedCrashes: join(folder, 'history.told'),
  };
}

/** The paths of a conversation and its copies, which begin with `stem`. */
export function conversationPaths(
  stem: string,
): Pick<HistoryPaths, 'history' | 'resetCopy' | 'swap' | 'tempPrefix' | 'damagedPrefix'> {
  return {
    history: `${stem}.json.zst`,
    resetCopy: `${stem}.reset.json.zst`,
    swap: `${stem}.swap.json.zst`,
    tempPrefix: `${stem}.new.`,
    damagedPrefix: `${stem}.damaged-`,
  };
}

/** Matches the rest of a kept damaged file's name after the prefix. */
export const DAMAGED_SUFFIX = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?(?:-unverified)?\.json\.zst$/;

/**
 * Matches what programs that keep folders alike on several machines add to the name of a file that was changed on two:
 * Syncthing, Dropbox and Nextcloud, and git beside a merge.
 */
const CONFLICT_MARK = /\.sync-conflict-|conflicted copy[^()]*\)|~(?=[^~]*[a-z\d])[\w.-]+$/i;

/** Whether the file is a copy that such a program left beside its original. */
export const isConflictCopy = (path: string): boolean => CONFLICT_MARK.test(path.slice(path.lastIndexOf('/') + 1));

/** Matches a name that `processName` returns. */
export const PROCESS_NAME = /^[0-9a-z]+\.\d+\.\d+$/;

/** Makes a hard link, or a copy if the file system has no hard links. It is on disk when this returns. */
export function linkOrCopy(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch {
    copyFileSync(path, name);
    const file = openSync(name, 'r+');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
