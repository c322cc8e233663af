import type { DocumentPart, ImagePart, Message } from '../chat/message.js';
import {
  attachmentsIn,
  clearLostMark,
  collectGarbage,
  commitAttachment,
  hashOf,
  hasOrphans,
  lateNotice,
  lostNotice,
  markLost,
  readAttachment,
  releaseAttachment,
  storeAttachment,
} from './attachments.js';
import type { HistoryPaths } from './base/history-paths.js';
import { type Notices, withHistoryErrors } from './base/notices.js';
import type { Log } from './log.js';

/**
 * The images and documents of the conversation. They are files next to the history, named by their SHA-256; with
 * `--ephemeral` they are kept in memory.
 */
export class AttachmentStore {
  readonly #paths: HistoryPaths;
  readonly #log: Log;
  readonly #notices: Notices;
  /** The bytes for a conversation that is not written to disk. */
  readonly #inMemory = new Map<string, Uint8Array>();
  /** Attachments that no written message refers to yet. */
  readonly #pending = new Set<string>();

  constructor(paths: HistoryPaths, log: Log, notices: Notices) {
    this.#paths = paths;
    this.#log = log;
    this.#notices = notices;
  }

  /** Stores the bytes, which are on disk when this resolves. Returns their SHA-256. */
  async add(bytes: Uint8Array): Promise<string> {
    return await withHistoryErrors(this.#paths.history, async () => {
      if (!this.#log.isKept) {
        const hash = hashOf(bytes);
        this.#inMemory.set(hash, bytes);
        return hash;
      }
      const hash = storeAttachment(this.#paths, bytes);
      this.#pending.add(hash);
      if (hasOrphans(this.#paths)) await this.#log.withAllLogs((logs) => collectGarbage(this.#paths, logs));
      return hash;
    });
  }

  /** The bytes with that SHA-256, null when they are missing, unreadable or altered. */
  async get(sha256: string): Promise<Uint8Array | null> {
    const inMemory = this.#inMemory.get(sha256);
    if (inMemory) return inMemory;
    const found = readAttachment(this.#paths, sha256);
    if (found !== null && this.#log.isKept) clearLostMark(this.#paths, sha256);
    return found;
  }

  /**
   * Adds a notice that these attachments are lost or, with `isLate`, have not arrived from another machine yet, once
   * for each in all processes.
   */
  async reportLost(parts: readonly (ImagePart | DocumentPart)[], isLate = false): Promise<void> {
    const unreported = parts.filter(({ sha256 }) => markLost(this.#paths, sha256, this.#log.isKept));
    if (unreported.length > 0) this.#notices.add(isLate ? lateNotice(unreported) : lostNotice(unreported));
  }

  /** The attachments of written messages are no longer pending. */
  async commit(messages: readonly Message[]): Promise<void> {
    if (this.#pending.size === 0) return;
    await withHistoryErrors(this.#paths.history, async () => {
      for (const { sha256 } of messages.flatMap(attachmentsIn)) {
        if (this.#pending.delete(sha256)) commitAttachment(this.#paths, sha256);
      }
    });
  }

  /** Removes attachments that were never sent. */
  async releasePending(): Promise<void> {
    if (this.#pending.size === 0) return;
    for (const hash of this.#pending) releaseAttachment(this.#paths, hash);
    this.#pending.clear();
  }
}
