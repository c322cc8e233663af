import { existsSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { HiError } from '../../errors.js';
import { fileNamesIn } from '../../remove-files.js';
import { followLinks, writeAside } from '../../write-aside.js';
import { conversationPaths, DAMAGED_SUFFIX, type HistoryPaths, isConflictCopy } from '../base/history-paths.js';
import { DATA_MAGIC } from './frames/frame-headers.js';

/**
 * The paths of the conversation with links resolved. If the history is a link, the files of a reset, a repair or a rewrite are next to its target and
 * named after it, so that a rename never crosses file systems and never replaces the link. Throws a `HiError` for a dangling link, unless a reset moved the
 * target: its disk is probably not mounted, and starting a new conversation would lead to two.
 */
export function resolveLinks(paths: HistoryPaths): HistoryPaths {
  const target = followLinks(paths.history);
  if (target === paths.history) return paths;
  const real = { ...conversationPaths(target.replace(/(?:\.json)?(?:\.zst)?$/, '')), history: target };
  if (!existsSync(target) && !existsSync(real.resetCopy)) throw danglingLink(paths.history, target);
  return { ...paths, ...real };
}

/** The folder of the conversation and its copies; for paths from `resolveLinks`. */
export function historyFolder(paths: HistoryPaths): string {
  return dirname(paths.history);
}

/** The kept damaged files: next to the conversation, and in the data folder, where earlier versions kept those of a linked conversation. */
export function damagedCopies(paths: HistoryPaths): readonly string[] {
  const prefixes = new Set([paths.damagedPrefix, resolveLinks(paths).damagedPrefix]);
  return [...prefixes].flatMap((path) => {
    const prefix = basename(path);
    const isDamaged = (name: string): boolean =>
      name.startsWith(prefix) && DAMAGED_SUFFIX.test(name.slice(prefix.length));
    // `join` would resolve the `..` of a link, which is wrong after another link.
    return fileNamesIn(dirname(path))
      .filter(isDamaged)
      .map((name) => path + name.slice(prefix.length));
  });
}

/** The copies that a program left beside the conversation because it was changed on two machines. */
export function conflictCopies(paths: HistoryPaths): readonly string[] {
  const { history } = resolveLinks(paths);
  const stem = basename(history).replace(/(?:\.json)?(?:\.zst)?$/, '');
  return fileNamesIn(dirname(history))
    .filter((name) => name.startsWith(stem) && name.includes('.zst') && isConflictCopy(name))
    .map((name) => history.slice(0, -basename(history).length) + name);
}

/** The files of the conversation and its copies. */
export function conversationFiles(paths: HistoryPaths): readonly string[] {
  if (!existsSync(paths.folder)) return [];
  const { history, resetCopy, swap } = resolveLinks(paths);
  return [history, resetCopy, swap]
    .filter((path) => existsSync(path))
    .concat(damagedCopies(paths), conflictCopies(paths));
}

/** Throws a `HiError` when the attachments folder is a dangling link. */
export function requireAttachmentsFolder({ attachments }: HistoryPaths): void {
  const target = followLinks(attachments);
  if (target !== attachments && !existsSync(target)) throw danglingLink(attachments, target);
}

/** Removes the conversation. The target of a link becomes an empty file, because hi refuses a dangling link. `real` is the result of `resolveLinks`. */
export function removeConversation(paths: HistoryPaths, real: HistoryPaths): void {
  if (real.history === paths.history) rmSync(real.history, { force: true });
  else writeAside(real.history, EMPTY, { mode: 0o600, synced: true });
}

/** A zstd frame that holds `[]`: one segment of two bytes, in one raw block, which is the last. */
const EMPTY = Buffer.from([...magic(), 0x20, 0x02, 0x11, 0x00, 0x00, 0x5b, 0x5d]);

function magic(): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(DATA_MAGIC);
  return bytes;
}

function danglingLink(path: string, target: string): HiError {
  return new HiError('history', `'${path}' is a link to '${target}', which does not exist.`, {
    hint: 'Mount or restore the target. To start a new conversation without it, remove the link.',
  });
}
