import { existsSync, rmSync, statSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import { followLinks, renameOver } from '../../write-aside.js';
import type { HistoryPaths } from '../base/history-paths.js';
import { changedEntries } from '../file/entry-streams.js';
import { loadCodec } from '../file/frames/codec.js';
import { Damaged } from '../file/frames/damaged.js';
import { newLogName } from '../file/identity.js';
import { conflictCopies, damagedCopies, historyFolder, resolveLinks } from '../file/link-targets.js';
import { LogFile } from '../file/log-file.js';
import { assertLockHeld } from '../lock/holder.js';
import { processName } from '../lock/process-name.js';
import { readLog } from '../repair/read-log.js';
import { syncFolder, writeLog } from '../repair/rewrite.js';
import type { Criteria } from './criteria.js';
import type { ForgettableCopy } from './forgettable.js';
import { Survey } from './survey.js';

/** The copies that contain matching entries. A damaged file that cannot be read completely counts as one of them. */
export function surveyCopies(paths: HistoryPaths, criteria: Criteria): readonly ForgettableCopy[] {
  const found: ForgettableCopy[] = [];
  for (const { path, isWhole } of copiesOf(paths)) {
    const survey = surveyOf(path, criteria);
    if (survey?.isEmpty) continue;
    found.push({ path, messages: isWhole || survey === null ? null : survey.messages.length });
  }
  return found;
}

/** Rewrites reset conversations, and removes kept damaged files. Only under the lock. */
export function forgetInCopies(paths: HistoryPaths, criteria: Criteria): void {
  const real = resolveLinks(paths);
  for (const { path, isWhole } of copiesOf(paths)) {
    const survey = surveyOf(path, criteria);
    if (survey?.isEmpty) continue;
    assertLockHeld();
    if (isWhole || survey === null) {
      rmSync(followLinks(path), { force: true });
      rmSync(path, { force: true });
    } else rewriteCopy(real, path, (entry) => survey.change(entry));
  }
  syncFolder(historyFolder(real));
}

/** The copies. One with `isWhole` is useless if something in it is missing. */
function copiesOf(paths: HistoryPaths): readonly { readonly path: string; readonly isWhole: boolean }[] {
  const real = resolveLinks(paths);
  const conversations = new Set([real, paths].flatMap(({ resetCopy, swap }) => [resetCopy, swap]));
  return [
    ...[...conversations].filter((path) => existsSync(path)).map((path) => ({ path, isWhole: false })),
    ...conflictCopies(paths).map((path) => ({ path, isWhole: false })),
    ...damagedCopies(paths).map((path) => ({ path, isWhole: true })),
  ];
}

/** Null if the file cannot be read completely. */
function surveyOf(path: string, criteria: Criteria): Survey | null {
  try {
    return new Survey(readLog(path), criteria);
  } catch (thrown) {
    if (thrown instanceof Damaged) return null;
    throw thrown;
  }
}

/** One rename decides. After a kill, the next process recognises the new file by its name. */
function rewriteCopy({ tempPrefix }: HistoryPaths, path: string, change: (entry: Entry) => Entry | null): void {
  const target = followLinks(path);
  const sibling = tempPrefix + processName();
  try {
    const mode = statSync(target).mode;
    writeLog(loadCodec(), sibling, nameOf(target), changedEntries(readLog(target), change), mode);
    assertLockHeld();
    renameOver(sibling, target);
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
}

/** The name of the conversation, which it keeps. */
function nameOf(path: string): string {
  try {
    const file = LogFile.open(loadCodec(), path, 'r');
    const { log } = file;
    file.close();
    return log;
  } catch (thrown) {
    if (thrown instanceof Damaged) return newLogName();
    throw thrown;
  }
}
