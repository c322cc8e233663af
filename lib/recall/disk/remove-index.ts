import { join } from 'node:path';
import { namesIn, removeEmptyFolder, removeFiles } from '../../remove-files.js';
import { namesWithLeftovers } from '../../write-aside.js';

/** Matches the files of an index folder, and the leftovers of killed processes. */
const SEGMENT_FILES = namesWithLeftovers('(?:(?:\\d+-\\d|tail-\\d+)\\.seg|threshold\\.json)');

/** Removes the segments of a conversation, and their folder if it contains nothing else. */
export function removeSegments(folder: string): void {
  removeFiles(folder, SEGMENT_FILES);
  removeEmptyFolder(folder);
}

/** Removes the index of every conversation. */
export function removeIndex(root: string): void {
  for (const name of namesIn(root)) removeSegments(join(root, name));
  removeEmptyFolder(root);
}
