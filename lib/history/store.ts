import type { Entry, Mark, NewMark } from '../chat/entry.js';
import type { ChatEvent, CompactionReport } from '../chat/event.js';
import type { ForgetOrder } from '../chat/forget-order.js';
import type { Message, NewMessage } from '../chat/message.js';
import { makeFolder } from '../folder.js';
import type { View } from '../view/view.js';
import type { AttachmentStore } from './attachment-store.js';
import { withHistoryErrors } from './base/history-error.js';
import { type HistoryPaths, historyPathsIn } from './base/history-paths.js';
import { Notices } from './base/notices.js';
import { Conversation } from './conversation.js';
import { findCrashedTurns } from './crashed-turns.js';
import { prepareCodec } from './file/frames/codec.js';
import { conversationFiles } from './file/link-targets.js';
import type { Forgettable } from './forget/forgettable.js';
import type { ConversationReading } from './open-reading.js';
import type { HistorySettings, Totals, WriteBlock } from './store-settings.js';
import type { Verified } from './verify.js';

/** The one conversation. Every expected failure is a `HiError` with code `history`. */
export class HistoryStore {
  readonly #settings: HistorySettings;
  readonly #paths: HistoryPaths;
  readonly #notices = new Notices();
  readonly #conversation: Conversation;
  #crashedTurn: number | null = null;

  private constructor(settings: HistorySettings) {
    this.#settings = settings;
    this.#paths = historyPathsIn(settings.folder);
    this.#conversation = new Conversation(this.#paths, settings.now, settings.ephemeral !== true, this.#notices);
  }

  /** The history in that folder, empty when there is none. Reads only what the next request needs. */
  static async open(settings: HistorySettings): Promise<HistoryStore> {
    await prepareCodec();
    const store = new HistoryStore(settings);
    await store.#conversation.log.refresh();
    if (store.entries.length > 0) await store.#findCutShort();
    return store;
  }

  /** The notices since the last call: a repaired file, a turn cut short by a crash. Any read or write may add one. */
  takeNotices(): readonly string[] {
    return this.#notices.take();
  }

  /** The newest turn, when a crash cut it short and no message followed. */
  get crashedTurn(): number | null {
    return this.#crashedTurn;
  }

  /** The log from the first entry that the view needs, oldest first. */
  get entries(): readonly Entry[] {
    return this.#conversation.log.entries;
  }

  /** Whether messages are kept in memory only. */
  get isEphemeral(): boolean {
    return !this.#conversation.log.writes;
  }

  /** Whether what is said now is forgotten as soon as the user is on the record again. */
  get isOffRecord(): boolean {
    return this.#conversation.isOffRecord;
  }

  /** Keeps what follows in memory only, on top of what was said before. */
  async goOffRecord(): Promise<void> {
    await this.#conversation.goOffRecord();
  }

  /** Forgets everything since `goOffRecord`. Resolves to how many messages that were. */
  async goOnRecord(): Promise<number> {
    return await this.#conversation.goOnRecord();
  }

  /** How many messages there are in all. */
  get length(): number {
    return this.#conversation.log.facts.messages;
  }

  get totals(): Totals {
    const { messages, compactions, last_compaction } = this.#conversation.log.facts;
    return { messages, compactions, last_compaction, files: conversationFiles(this.#paths) };
  }

  /** Names the conversation: another one after a reset; null while there is none on disk. */
  get name(): string | null {
    return this.#conversation.log.name;
  }

  /** Takes in what other processes wrote. */
  async refresh(): Promise<void> {
    await this.#conversation.log.refresh();
  }

  /** Begins a turn: the user's message is on disk when this resolves. */
  async begin(message: NewMessage): Promise<Message> {
    this.#crashedTurn = null;
    const begun = await this.#conversation.turns.begin(message, this.#now());
    await this.#conversation.attachments.commit([begun]);
    return begun;
  }

  /** Writes what follows in a turn, on disk when this resolves. */
  async append(turn: number, messages: readonly NewMessage[]): Promise<readonly Message[]> {
    const written = await this.#conversation.turns.append(turn, messages, this.#now());
    await this.#conversation.attachments.commit(written);
    return written;
  }

  /** Takes in what other processes wrote; a running turn moves to the new conversation when its own was reset. */
  async follow(turn: number): Promise<void> {
    await this.refresh();
    await this.#conversation.turns.follow(turn, this.#now());
  }

  /** Writes a finished turn of one message: the output of a local command. */
  async note(message: NewMessage): Promise<Message> {
    return await this.begin({ ...message, stop_reason: 'end' });
  }

  /** What is sent: the newest block, the messages that it kept, in whole turns, and the turn that runs here. */
  view(running: number | null): View {
    return this.#conversation.view(running);
  }

  /** How many messages are not in `entries` though no block covers them. */
  get unloaded(): number {
    return this.#conversation.log.unloaded;
  }

  /**
   * Shortens the view with the block that `write` makes of the log. Yields events, the `compact` event last; returns what was done, or null when there
   * was nothing to do.
   */
  async *compact(
    running: number | null,
    write: WriteBlock,
    archive: 'keep' | 'discard',
  ): AsyncGenerator<ChatEvent, CompactionReport | null> {
    const { appendBlock } = await import('./append-block.js');
    const turn = running === null ? null : this.#conversation.turns.idOf(running);
    const { now } = this.#settings;
    return yield* appendBlock(
      this.#conversation.log,
      this.#paths,
      (entries, unloaded) => write(entries, turn, unloaded),
      archive,
      now,
    );
  }

  /** Undoes a turn, and others with it: they stay in the archive and are no longer sent. */
  async undo(turn: number, others: readonly number[] = []): Promise<void> {
    await this.mark({ type: 'undo', turns: [this.#conversation.turns.idOf(turn), ...others] });
  }

  /** Appends what the user decided about what is sent. */
  async mark(mark: NewMark): Promise<void> {
    const at = this.#now();
    await this.#conversation.log.write((next): readonly Mark[] => [{ id: next, at, ...mark }]);
  }

  /** Runs `work` while no other `hi` writes anything that is the user's. */
  async exclusively(work: () => void): Promise<void> {
    makeFolder(this.#settings.folder, 0o700);
    await this.#conversation.log.exclusively(work);
  }

  /** Clears the conversation. A copy is kept until the next reset, none with `purge`. */
  async reset({ purge }: { readonly purge: boolean }): Promise<void> {
    if (this.isEphemeral) return this.#conversation.log.clear();
    await this.#conversation.reset(purge);
    this.#crashedTurn = null;
  }

  /** Restores the conversation before the last reset; the one since becomes the copy. Throws a `HiError` when there is no copy. */
  async undoReset(): Promise<void> {
    await this.#conversation.undoReset();
    this.#crashedTurn = null;
    // Opening reads only what the next request needs; damage further back is found, repaired and reported now.
    for await (const _ of this.archive());
  }

  /** What is to be forgotten, and the copies of it beside the history; changes nothing. */
  async findForgettable(order: ForgetOrder): Promise<Forgettable> {
    const { findForgettable } = await import('./forget-everywhere.js');
    return await findForgettable(this.#conversation.log, this.#paths, order);
  }

  /** Forgets it. First `forgetElsewhere` removes, under the lock, what is not the history's, so that a kill leaves the conversation to forget it by once more. */
  async forget(order: ForgetOrder, forgetElsewhere: (found: Forgettable) => void): Promise<void> {
    const { forget } = await import('./forget-everywhere.js');
    await forget(this.#conversation.log, this.#paths, order, forgetElsewhere);
    this.#crashedTurn = null;
  }

  /** Every entry that was not removed, oldest first, read on demand. */
  archive(): AsyncIterable<Entry> {
    return this.#conversation.log.all();
  }

  /** How many frames this process sealed for good. */
  get sealed(): number {
    return this.#conversation.log.sealed;
  }

  /** Opens what there is now for random access. Close it. */
  async reading(): Promise<ConversationReading> {
    return await this.#conversation.log.reading();
  }

  /** The last `count` messages and the entries between them, oldest first. Reads the end of the file only. */
  async newest(count: number): Promise<readonly Entry[]> {
    return await this.#conversation.log.newest(count);
  }

  /** Reads the whole history and reports what is wrong with it; changes nothing. */
  async verify(): Promise<Verified> {
    return await withHistoryErrors(
      this.#paths.history,
      async () => await (await import('./verify.js')).verify(this.#paths),
    );
  }

  /** The images and documents, which are kept beside the messages. */
  get attachments(): AttachmentStore {
    return this.#conversation.attachments;
  }

  /** Closes the file. A turn that still runs here counts as cut short from now on. */
  async close(): Promise<void> {
    this.#conversation.turns.abandon();
    this.#conversation.log.close();
  }

  async #findCutShort(): Promise<void> {
    const { turn, notice } = await findCrashedTurns(this.#conversation.log, this.#paths);
    this.#crashedTurn = turn;
    if (notice !== null) this.#notices.add(notice);
  }

  #now(): string {
    return this.#settings.now().toISOString();
  }
}
