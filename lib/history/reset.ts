import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HiError } from '../errors.js';
import { DAMAGED_PREFIX, type Paths } from './paths.js';
import { syncFolder } from './rewrite.js';
import { keepTwice } from './twice.js';

/**
 * Puts the conversation aside, in place of the copy an earlier reset left. Only under the lock.
 * Killed at any moment it has either happened or not: one rename decides, and images are found in both places.
 */
export function putAside(paths: Paths): void {
  finishSwap(paths);
  if (!existsSync(paths.history)) return;
  rmSync(paths.asideAttachments, { recursive: true, force: true });
  renameSync(paths.history, paths.aside);
  if (existsSync(paths.attachments)) renameSync(paths.attachments, paths.asideAttachments);
  syncFolder(paths.folder);
}

/** Removes the conversation and every copy of it, damaged ones too. Only under the lock. */
export function purge(paths: Paths): void {
  if (!existsSync(paths.folder)) return;
  const damaged = readdirSync(paths.folder).filter((name) => name.startsWith(DAMAGED_PREFIX));
  const copies = [paths.history, paths.aside, paths.swap, ...damaged.map((name) => join(paths.folder, name))];
  for (const path of copies) rmSync(path, { force: true });
  for (const path of [paths.attachments, paths.asideAttachments]) rmSync(path, { recursive: true, force: true });
  syncFolder(paths.folder);
}

/**
 * Brings the copy back; what was said since takes its place as the copy. Only under the lock.
 * Killed at any moment, no conversation is lost: the next reset or undo finishes what was begun. Throws a `HiError` when there is no copy.
 */
export function bringBack(paths: Paths): void {
  finishSwap(paths);
  if (!existsSync(paths.aside)) {
    throw new HiError('history', `There is no conversation to bring back in '${paths.folder}'.`, {
      hint: 'Only the last reset can be undone, and not one with --purge.',
    });
  }
  if (existsSync(paths.history)) keepTwice(paths.history, paths.swap);
  renameSync(paths.aside, paths.history);
  finishSwap(paths);
  swapFolders(paths);
  syncFolder(paths.folder);
}

/** A swap that was cut short: the conversation that was replaced becomes the copy, unless nothing was replaced yet. */
function finishSwap(paths: Paths): void {
  if (!existsSync(paths.swap)) return;
  if (existsSync(paths.aside)) rmSync(paths.swap);
  else renameSync(paths.swap, paths.aside);
}

function swapFolders({ folder, attachments, asideAttachments }: Paths): void {
  const between = join(folder, 'attachments.swap');
  if (existsSync(attachments)) renameSync(attachments, between);
  if (existsSync(asideAttachments)) renameSync(asideAttachments, attachments);
  if (existsSync(between)) renameSync(between, asideAttachments);
}
