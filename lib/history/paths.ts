import { join } from 'node:path';

/** Where everything of one conversation lies in the data folder. */
export interface Paths {
  readonly folder: string;
  /** The conversation. */
  readonly history: string;
  /** The copy the last reset left. */
  readonly aside: string;
  /** A conversation while it changes places with the copy. */
  readonly swap: string;
  /** Images and documents by their hash, of the conversation and of the copy. */
  readonly attachments: string;
  readonly asideAttachments: string;
  /** Up to which turn the user was told of crashes. */
  readonly told: string;
}

/** The names of all that is kept beside each other in `folder`. */
export function pathsIn(folder: string): Paths {
  return {
    folder,
    history: join(folder, 'history.json.zst'),
    aside: join(folder, 'history.reset.json.zst'),
    swap: join(folder, 'history.swap.json.zst'),
    attachments: join(folder, 'attachments'),
    asideAttachments: join(folder, 'attachments.reset'),
    told: join(folder, 'history.told'),
  };
}

/** What the name of a damaged file begins with that was kept. */
export const DAMAGED_PREFIX = 'history.damaged-';
