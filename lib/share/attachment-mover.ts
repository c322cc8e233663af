import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../chat/json.js';
import type { Message } from '../chat/message.js';
import { namesIn } from '../disk.js';
import { attachmentsIn, commitAttachment, hashOf, readAttachment, storeAttachment } from '../history/attachments.js';
import { type HistoryPaths, historyPathsIn } from '../history/base/history-paths.js';
import type { TurnItem } from './items.js';
import { placeOf, type SharedFolder } from './news.js';
import { attachmentFileName, openFile, sealFile } from './sealed-file.js';
import { ATTACHMENTS, readShared, writeShared } from './shared-folder.js';

/** An attachment that is not here yet, and the machine that has it. */
export type LateAttachment = readonly [sha256: string, machine: string];

/**
 * Moves images and documents between the conversation and the shared folder, where each is a file of its own. Methods
 * throw the system's errors.
 */
export class AttachmentMover {
  readonly #folder: SharedFolder;
  readonly #paths: HistoryPaths;

  constructor(folder: SharedFolder, data: string) {
    this.#folder = folder;
    this.#paths = historyPathsIn(data);
  }

  /** Gives out the attachments of messages, before the messages. */
  give(messages: readonly Message[]): void {
    const own = join(this.#folder.path, this.#folder.machine, ATTACHMENTS);
    for (const { sha256 } of messages.flatMap(attachmentsIn)) {
      const name = attachmentFileName(this.#folder.key, sha256);
      const bytes = existsSync(join(own, name)) ? null : readAttachment(this.#paths, sha256);
      if (bytes !== null)
        writeShared(own, name, sealFile(this.#folder.key, this.#place(this.#folder.machine, name), bytes));
    }
  }

  /** Fetches the attachments of turns. Returns those that are not there yet. They are pending until `commit`. */
  fetch(items: readonly TurnItem[], machine: string): readonly LateAttachment[] {
    const named = items.flatMap(({ messages }) => messages.flatMap(({ content }) => hashesIn(content)));
    return [...new Set(named)].filter((sha256) => !this.#fetch(sha256, machine)).map((sha256) => [sha256, machine]);
  }

  /** The messages that refer to the attachments were written. */
  commit(messages: readonly Message[]): void {
    for (const { sha256 } of messages.flatMap(attachmentsIn)) commitAttachment(this.#paths, sha256);
  }

  /** Fetches the attachments that were late. Returns those that still are. */
  fetchLate(late: readonly LateAttachment[]): readonly LateAttachment[] {
    return late.filter(([sha256, machine]) => {
      const isHere = this.#fetch(sha256, machine);
      if (isHere) commitAttachment(this.#paths, sha256);
      return !isHere;
    });
  }

  /** Removes the attachments that no message of this machine refers to any more. */
  clean(): void {
    const own = join(this.#folder.path, this.#folder.machine, ATTACHMENTS);
    const kept = new Set(namesIn(this.#paths.attachments).map((hash) => attachmentFileName(this.#folder.key, hash)));
    for (const name of namesIn(own)) if (!kept.has(name)) rmSync(join(own, name), { force: true });
  }

  #fetch(sha256: string, machine: string): boolean {
    if (readAttachment(this.#paths, sha256) !== null) return true;
    const name = attachmentFileName(this.#folder.key, sha256);
    const bytes = readShared(join(this.#folder.path, machine, ATTACHMENTS, name));
    const opened = bytes && openFile(this.#folder.key, this.#place(machine, name), bytes);
    if (opened?.kind !== 'content' || hashOf(opened.content) !== sha256) return false;
    storeAttachment(this.#paths, opened.content);
    return true;
  }

  #place(machine: string, name: string): string {
    return `${placeOf(this.#folder, machine)}/${ATTACHMENTS}/${name}`;
  }
}

function hashesIn(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) =>
    isJsonObject(part) && (part.type === 'image' || part.type === 'document') && typeof part.sha256 === 'string'
      ? [part.sha256]
      : [],
  );
}
