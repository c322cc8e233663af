import { type Entry, isMessage, type Mark, type NewMark } from '../chat/entry.js';
import type { ChatEvent, CompactionReport } from '../chat/event.js';
import type { Message, NewMessage } from '../chat/message.js';
import type { ForgetOrder } from '../chat/occurrence.js';
import { makeFolder } from '../disk.js';
import { HiError } from '../errors.js';
import type { View } from '../view/view.js';
import { appendBlock } from './append-block.js';
import type { AttachmentStore } from './attachment-store.js';
import { type HistoryPaths, historyPathsIn } from './base/history-paths.js';
import { Notices, withHistoryErrors } from './base/notices.js';
import { Conversation, type HistorySettings, type Totals, type WriteBlock } from './conversation.js';
import { prepareCodec } from './file/codec.js';
import { conversationFiles } from './file/log-file.js';
import type { Forgettable } from './forget/copies.js';
import { type ForgottenName, findForgettable, forget } from './forget-everywhere.js';
import type { Keeping, LogUse } from './log.js';
import type { ConversationReading } from './open-reading.js';
import { findCrashedTurns } from './turns.js';
import { type Verified, verify } from './verify.js';

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
    const use: LogUse = { keeping: settings.ephemeral ? 'ephemeral' : 'kept', isAside: settings.aside === true };
    this.#conversation = new Conversation(this.#paths, settings.now, use, this.#notices);
  }

  /** The history in that folder, empty when there is none. Reads only what the next request needs. */
  static async open(settings: HistorySettings): Promise<HistoryStore> {
    await prepareCodec();
    const store = new HistoryStore(settings);
    await store.#conversation.log.refresh();
    if (store.entries.length > 0) await store.#findCutShort();
    return store;
  }

  /** The time that an entry written now would have. */
  now(): Date {
    return this.#settings.now();
  }

  /** The notices since the last call: a repaired file, a turn cut short by a crash. Any read or write may add one. */
  takeNotices(): readonly string[] {
    return this.#notices.take();
  }

  /** The newest turn if a crash cut it short and no message followed. */
  get crashedTurn(): number | null {
    return this.#crashedTurn;
  }

  /**
   * The log from the first entry that the view needs, oldest first, without asides; in an aside, only its own entries.
   */
  get entries(): readonly Entry[] {
    return this.#conversation.log.entries;
  }

  /** The same with all asides. */
  get loaded(): readonly Entry[] {
    return this.#conversation.log.loaded;
  }

  /** Whether what is said is an aside. */
  get isAside(): boolean {
    return this.#conversation.log.isAside;
  }

  /** What becomes of what is said now. Off the record, it is forgotten at the end. */
  get keeping(): Keeping {
    return this.#conversation.log.keeping;
  }

  get isKept(): boolean {
    return this.#conversation.log.isKept;
  }

  /** Throws a `HiError` while nothing is kept. The command does the same outside of the chat. */
  requireKept(command: string): void {
    if (this.isKept) return;
    const [how, hint] =
      this.keeping === 'off-record'
        ? ['off the record', 'Type /on first.']
        : ['with --ephemeral', `Quit the chat and run: ${command}`];
    throw new HiError('usage', `Nothing is kept ${how}.`, { hint });
  }

  /** Keeps later messages in memory only. */
  async goOffRecord(): Promise<void> {
    await this.#conversation.goOffRecord();
  }

  /** Forgets the messages since `goOffRecord`. Resolves to their number. */
  async goOnRecord(): Promise<number> {
    return await this.#conversation.goOnRecord();
  }

  /** The total number of messages of the conversation, without asides. */
  get length(): number {
    const { messages, asides = 0 } = this.#conversation.log.facts;
    return messages - asides;
  }

  get totals(): Totals {
    const { messages, compactions, restores = 0, last_compaction } = this.#conversation.log.facts;
    const { kept } = this.#conversation;
    // What was forgotten last leaves a message without content, which keeps the ids ascending.
    const newest = this.entries.at(-1);
    const shells = newest !== undefined && isMessage(newest) && newest.content.length === 0 ? 1 : 0;
    return {
      messages: messages - shells,
      kept: kept - shells,
      compactions,
      taken_back: 2 * restores,
      last_compaction,
      files: conversationFiles(this.#paths),
    };
  }

  /** The name of the conversation, which changes with a reset; null while there is none on disk. */
  get name(): string | null {
    return this.#conversation.log.name;
  }

  /** Reads what other processes wrote. */
  async refresh(): Promise<void> {
    await this.#conversation.log.refresh();
  }

  /**
   * Changes when something that was read may be gone. Whoever holds a copy compares it before using a word of it, with
   * `isCurrent` or `ifCurrent`.
   */
  get edition(): number {
    return this.#conversation.log.edition;
  }

  /** Reads what other processes wrote; false if something that was read in that edition may be gone. */
  async isCurrent(edition: number): Promise<boolean> {
    return await this.#conversation.log.isCurrent(edition);
  }

  /**
   * Runs `work`, which stores what was derived from that edition, under the lock; resolves to false if something of it
   * may be gone, or nothing is stored.
   */
  async ifCurrent(edition: number, work: () => void): Promise<boolean> {
    return await this.#conversation.log.ifCurrent(edition, work);
  }

  /**
   * Begins a turn: the user's message is on disk when this resolves. What it repeats of other messages, such as
   * recalled passages, is left out if the conversation no longer has the edition that they were read from. `signal`
   * ends the wait for another process, and then nothing is written.
   */
  async begin(message: NewMessage, edition = this.edition, signal?: AbortSignal): Promise<Message> {
    this.#crashedTurn = null;
    const begun = await this.#conversation.turns.begin(message, this.#now(), edition, signal);
    await this.#conversation.attachments.commit([begun]);
    return begun;
  }

  /**
   * Appends messages to a turn, with an `edition` like `begin`; none if it is another one and `onlyThen`. They are on
   * disk when this resolves.
   */
  async append(
    turn: number,
    messages: readonly NewMessage[],
    edition = this.edition,
    onlyThen = false,
  ): Promise<readonly Message[]> {
    const { turns } = this.#conversation;
    const written = await turns.append(turn, messages, this.#now(), edition, onlyThen);
    await this.#conversation.attachments.commit(written);
    return written;
  }

  /** Reads what other processes wrote. A running turn moves to the new conversation if its own was reset. */
  async follow(turn: number): Promise<void> {
    await this.refresh();
    await this.#conversation.turns.follow(turn, this.#now());
  }

  /** Writes a finished turn of one message: the output of a local command. */
  async note(message: NewMessage): Promise<Message> {
    return await this.begin({ ...message, stop_reason: 'end' });
  }

  /** The view that is sent: the newest block, the messages that it kept, in whole turns, and the running turn. */
  view(running: number | null): View {
    return this.#conversation.view(running);
  }

  /** The number of messages that are neither covered by a block nor in `entries`. */
  get unloaded(): number {
    return this.#conversation.log.unloaded;
  }

  /**
   * Compacts the view with the block that `write` creates from the log. Yields events, the `compact` event last;
   * returns the compaction, or null if there was nothing to do. `signal` ends the wait for another process.
   */
  async *compact(
    running: number | null,
    write: WriteBlock,
    archive: 'keep' | 'discard',
    signal?: AbortSignal,
  ): AsyncGenerator<ChatEvent, CompactionReport | null> {
    const turn = running === null ? null : this.#conversation.turns.idOf(running);
    const { now } = this.#settings;
    return yield* appendBlock(
      this.#conversation.log,
      this.#paths,
      (entries, unloaded) => write(entries, turn, unloaded),
      // What the conversation needs does not depend on an aside.
      this.isAside ? 'keep' : archive,
      now,
      signal,
    );
  }

  /** Undoes a turn, and `others` with it. They stay in the archive but are no longer sent. */
  async undo(turn: number, others: readonly number[] = []): Promise<void> {
    await this.mark({ type: 'undo', turns: [this.#conversation.turns.idOf(turn), ...others] });
    this.#conversation.turns.end(turn);
  }

  /**
   * Appends a decision of the user about the view, such as a pin; false if the conversation no longer has that edition.
   */
  async mark(mark: NewMark, edition: number | null = null): Promise<boolean> {
    const at = this.#now();
    const { log } = this.#conversation;
    const written = await log.write((next): readonly Mark[] =>
      edition === null || edition === log.edition ? [{ id: next, at, ...mark }] : [],
    );
    return written.length > 0;
  }

  /**
   * Appends the entries that `plan` returns for the next id, as another machine has them. `plan` runs under the lock,
   * with all entries of other processes in `loaded`.
   */
  async takeIn<Kind extends Entry>(plan: (next: number) => readonly Kind[]): Promise<readonly Kind[]> {
    return await this.#conversation.log.write(plan);
  }

  /**
   * The same for very many entries, which are never all in memory: the file is written anew. `plan` is run again if it
   * was damaged, or another process took the lock away.
   */
  async takeInMany(plan: (next: number) => Iterable<Entry>): Promise<void> {
    await this.#conversation.log.rewrite(() => (entry) => entry, plan);
  }

  /** Runs `work` under the lock with all entries, oldest first. It may go through them more than once. */
  async readAll(work: (entries: Iterable<Entry>) => void): Promise<void> {
    await this.#conversation.log.rewrite((entries) => {
      work(entries);
      return null;
    });
  }

  /** Runs `work` while no other `hi` writes any of the user's data. */
  async exclusively(work: () => void): Promise<void> {
    makeFolder(this.#settings.folder, 0o700);
    await this.#conversation.log.exclusively(work);
  }

  /** Clears the conversation. Keeps a copy until the next reset, but none with `purge`. */
  async reset({ purge }: { readonly purge: boolean }): Promise<void> {
    if (!this.isKept) return this.#conversation.log.clear();
    await this.#conversation.reset(purge);
    this.#crashedTurn = null;
  }

  /**
   * Restores the conversation before the last reset; the one since becomes the copy. Throws a `HiError` if there is no
   * copy.
   */
  async undoReset(): Promise<void> {
    await this.#conversation.undoReset();
    this.#crashedTurn = null;
    // Opening reads only what the next request needs. This finds, repairs and reports damage further back.
    for await (const _ of this.archive());
  }

  /** Finds the messages to forget and their copies, without changing anything. */
  async findForgettable(order: ForgetOrder): Promise<Forgettable> {
    return await findForgettable(this.#conversation.log, this.#paths, order);
  }

  /**
   * Forgets them, and with `named` leaves a mark of their names. `forgetElsewhere` first removes them from other
   * places, under the lock, so that after a kill the conversation still shows what to forget.
   */
  async forget(
    order: ForgetOrder,
    forgetElsewhere: (found: Forgettable) => void,
    named: ForgottenName | null = null,
  ): Promise<void> {
    const mark = named && { ...named, at: this.#now() };
    await forget(this.#conversation.log, this.#paths, order, forgetElsewhere, mark);
    this.#crashedTurn = null;
  }

  /** Every entry that was not removed, oldest first, read on demand. */
  archive(): AsyncIterable<Entry> {
    return this.#conversation.log.all();
  }

  /** Whether a message was not removed. Reads the archive up to it. */
  async holds({ id, role }: Message): Promise<boolean> {
    for await (const entry of this.archive()) if (entry.id === id) return 'role' in entry && entry.role === role;
    return false;
  }

  /** Every entry of the conversation without asides; in an aside, only its own. Oldest first, read on demand. */
  conversation(): AsyncIterable<Entry> {
    return this.#conversation.log.conversation();
  }

  /** The number of frames that this process permanently sealed. */
  get sealed(): number {
    return this.#conversation.log.sealed;
  }

  /** Runs `work` while no other process forgets anything, so that what it reads stays in the conversation. */
  async undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#conversation.log.undisturbed(work);
  }

  /** Opens a snapshot for random access. The caller closes it. */
  async reading(): Promise<ConversationReading> {
    return await this.#conversation.log.reading();
  }

  /** The last `count` messages and the entries between them, oldest first. Reads the end of the file only. */
  async newest(count: number): Promise<readonly Entry[]> {
    return await this.#conversation.log.newest(count);
  }

  /** Reads the whole history and reports what is wrong with it; changes nothing. */
  async verify(): Promise<Verified> {
    return await withHistoryErrors(this.#paths.history, async () => await verify(this.#paths));
  }

  /** The images and documents, which are stored in files of their own. */
  get attachments(): AttachmentStore {
    return this.#conversation.attachments;
  }

  /** Closes the file. A turn that is still running here counts as cut short from now on. */
  async close(): Promise<void> {
    this.#conversation.turns.abandon();
    this.#conversation.log.close();
  }

  async #findCutShort(): Promise<void> {
    const { turn, notices } = await findCrashedTurns(this.#conversation.log, this.#paths);
    this.#crashedTurn = turn;
    for (const notice of notices) this.#notices.add(notice);
  }

  #now(): string {
    return this.#settings.now().toISOString();
  }
}
