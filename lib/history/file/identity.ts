import { statSync } from 'node:fs';
import type { HistoryPaths } from '../base/history-paths.js';
import { resolveLinks } from './link-targets.js';

/** Identifies the history file on its disk, null when there is none. Throws a `HiError` for a dangling link. */
export function fileIdAt(paths: HistoryPaths): string | null {
  const found = statSync(paths.history, { throwIfNoEntry: false });
  if (found) return `${found.dev}:${found.ino}`;
  resolveLinks(paths);
  return null;
}

/** A unique name for a conversation. */
export function newLogName(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}
