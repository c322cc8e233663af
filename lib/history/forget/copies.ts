import { existsSync, rmSync, statSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import type { Message } from '../../chat/message.js';
import { followLinks, renameOver } from '../../disk.js';
import type { HistoryPaths } from '../base/history-paths.js';
import { loadCodec } from '../file/codec.js';
import { Damaged } from '../file/frames.js';
import { changedEntries } from '../file/layout.js';
import { conflictCopies, damagedCopies, historyFolder, LogFile, newLogName, resolveLinks } from '../file/log-file.js';
import { assertLockHeld, processName } from '../lock/holder.js';
import { readLog } from '../repair/open-log.js';
import { syncFolder, writeLog } from '../repair/repair.js';
import { type Criteria, Survey } from './survey.js';

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

/** The data to forget in a conversation, its copies and its attachments. */
export interface Forgettable {
  /** The messages to remove, oldest first. */
  readonly messages: readonly Message[];
  /** The number of summaries to remove because they are based on these messages or contain the text. */
  readonly summaries: number;
  /** The number of pins and other elements to remove. */
  readonly others: number;
  /** The number of messages and summaries that only lose data that hi had added to them. */
  readonly shortened: number;
  /** The copies to change, and those to remove. */
  readonly copies: readonly ForgettableCopy[];
  /** The number of attachments to which no other message refers. */
  readonly attachments: number;
}

/** A copy: the conversation before a reset, or a damaged file. */
export interface ForgettableCopy {
  readonly path: string;
  /** The number of messages to remove; null for the whole file. */
  readonly messages: number | null;
}

/** True if there is nothing to forget. */
export function isNothing({ messages, summaries, others, shortened, copies, attachments }: Forgettable): boolean {
  return messages.length + summaries + others + shortened + copies.length + attachments === 0;
}
