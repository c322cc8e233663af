import { join } from 'node:path';

/** Where everything of one conversation lies in the data folder. */
export interface HistoryPaths {
  readonly folder: string;
  /** The conversation. */
  readonly history: string;
  /** The copy the last reset left. */
  readonly resetCopy: string;
  /** A conversation while it changes places with the copy. */
  readonly swap: string;
  /** What the path of a file begins with that is to take the place of the conversation; the name of its process follows. */
  readonly tempPrefix: string;
  /** What the path of a damaged or edited file begins with that is kept; the date follows. */
  readonly damagedPrefix: string;
  /** Images and documents by their hash, of the conversation and of the copy. */
  readonly attachments: string;
  /** Where earlier versions kept those of the copy, and those that changed places. */
  readonly oldAttachments: readonly string[];
  /** Up to which turn the user was told of crashes. */
  readonly reportedCrashes: string;
}

/** The names of all that is kept beside each other in `folder`. */
export function historyPathsIn(folder: string): HistoryPaths {
  return {
    folder,
    ...conversationPaths(join(folder, 'history')),
    attachments: join(folder, 'attachments'),
    oldAttachments: ['attachments.reset', 'attachments.swap'].map((name) => join(folder, name)),
    reportedCrashes: join(folder, 'history.told'),
  };
}

/** The names of a conversation and its copies, which begin with `stem`. */
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

/** Matches what follows the prefix in the name of a damaged file that was kept, and nothing else. */
export const DAMAGED_SUFFIX = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?(?:-unverified)?\.json\.zst$/;

/** Matches the name of a process, as `instance` gives it. */
export const PROCESS_NAME = /^[0-9a-z]+\.\d+\.\d+$/;
