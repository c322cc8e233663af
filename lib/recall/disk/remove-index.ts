import { join } from 'node:path';
import { namesIn, removeEmptyFolder, removeFiles } from '../../remove-files.js';
import { namesWithLeftovers } from '../../write-aside.js';

/** What this program writes into a folder of the index, and what a kill leaves there. */
const SEGMENT_FILES = namesWithLeftovers('(?:(?:\\d+-\\d|tail-\\d+)\\.seg|threshold\\.json)');

/** Removes the segments of a conversation, and their folder when nothing else is in it. */
export function removeSegments(folder: string): void {
  removeFiles(folder, SEGMENT_FILES);
  removeEmptyFolder(folder);
}

/** Removes the index of every conversation. */
export function removeIndex(root: string): void {
  for (const name of namesIn(root)) removeSegments(join(root, name));
  removeEmptyFolder(root);
}
