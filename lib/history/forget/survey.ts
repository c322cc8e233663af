import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  originalText,
  type UnknownEntry,
} from '../../chat/entry.js';
import type { Message, Part } from '../../chat/message.js';
import { stateOf } from '../../view/block-state.js';
import { heartbeat } from '../lock/holder.js';
import type { Criteria } from './criteria.js';
import { bareMark, saidIn, saidInBlock, saidInMark, saidInUnknown } from './said-in.js';

/** The newest message of a turn, which decides how the turn ended. */
interface Newest {
  readonly id: number;
  readonly ends: boolean;
  readonly others: boolean;
}

/**
 * Finds the data to forget in one log, in one pass: the matching messages, the summaries based on them, and copies of them. If the log needs an entry
 * in that place (the highest id, the end of a turn that stays), a message without content remains.
 */
export class Survey {
  readonly #criteria: Criteria;
  readonly #gone = new Map<number, Message>();
  readonly #removed = new Set<number>();
  readonly #newest = new Map<number, Newest>();
  readonly #shells = new Set<number>();
  #last: Entry | null = null;
  #lastTurn = 0;
  /** The ids of the oldest message that no summary so far covers, and of the newest one. */
  #uncovered = Number.POSITIVE_INFINITY;
  #newestSeen = 0;
  /** True if a summary was based on messages that no longer exist. All later summaries are then, too. */
  #isOutdated = false;
  /** The number of summaries to remove, and of pins and elements of later versions. */
  summaries = 0;
  others = 0;
  /** The number of messages that only lose data that hi had added. */
  shortened = 0;

  constructor(entries: Iterable<Entry>, criteria: Criteria) {
    this.#criteria = criteria;
    for (const entry of entries) this.#add(entry);
    for (const { id, ends, others } of this.#newest.values()) if (ends && others) this.#shells.add(id);
    if (this.#last !== null) this.#shells.add(this.#last.id);
  }

  /** The messages to remove, oldest first, except those that an earlier run left without content. */
  get messages(): readonly Message[] {
    return [...this.#gone.values()].filter(({ content }) => content.length > 0);
  }

  /** True if nothing in the log changes. */
  get isEmpty(): boolean {
    return this.messages.length + this.summaries + this.others + this.shortened === 0;
  }

  /** The entry after forgetting; null to remove it. */
  change(entry: Entry): Entry | null {
    if (this.#gone.has(entry.id) || this.#removed.has(entry.id))
      return this.#shells.has(entry.id) ? this.#shellOf(entry) : null;
    if (isMessage(entry)) return this.#without(entry);
    return isCompressBlock(entry) ? this.#withoutPins(entry) : this.#withoutNotes(entry);
  }

  /** A mark without what another program added to it, if that holds the text. Without the mark, undone turns would be back. */
  #withoutNotes(entry: Mark | UnknownEntry): Mark | UnknownEntry {
    return entry.type !== 'unknown' && this.#criteria.holds(saidInMark(entry)) ? bareMark(entry) : entry;
  }

  #add(entry: Entry): void {
    heartbeat();
    this.#last = entry;
    if (isMessage(entry)) this.#addMessage(entry);
    else if (isCompressBlock(entry)) this.#addBlock(entry);
    else this.#addOther(entry);
  }

  #addBlock(block: CompressBlock): void {
    this.#isOutdated ||= this.#criteria.isSummaryMeant(block, this.#isAlone(block));
    if (this.#isOutdated || this.#restsOnGone(block) || this.#criteria.holds(saidInBlock(block))) {
      this.#removed.add(block.id);
      this.summaries += 1;
    } else if (this.#withoutPins(block) !== block) this.shortened += 1;
  }

  /** True if none of the messages that a summary covers still exists. */
  #isAlone(block: CompressBlock): boolean {
    const cut = stateOf(block).cut?.id ?? block.first_kept ?? block.id;
    const isAlone = block.messages_compacted > 0 && this.#uncovered >= cut;
    this.#uncovered = this.#newestSeen >= cut ? cut : Number.POSITIVE_INFINITY;
    return isAlone;
  }

  #addOther(entry: Mark | UnknownEntry): void {
    const goes =
      (entry.type === 'pin' && this.#isGone(entry.message)) ||
      (entry.type === 'unknown' && this.#criteria.isUnknownMeant(entry.at, saidInUnknown(entry)));
    if (goes) {
      this.#removed.add(entry.id);
      this.others += 1;
    } else if (this.#withoutNotes(entry) !== entry) this.shortened += 1;
  }

  #addMessage(message: Message): void {
    const { id, turn, role, stop_reason } = message;
    this.#lastTurn = turn;
    this.#newestSeen = id;
    this.#uncovered = Math.min(this.#uncovered, id);
    const kept = this.#without(message);
    const cannotBeShortened = kept !== message && originalText(message) !== null;
    const goes = this.#criteria.isMeant(message, saidIn(message)) || cannotBeShortened;
    if (goes) this.#gone.set(id, message);
    else if (kept !== message) this.shortened += 1;
    const before = this.#newest.get(turn);
    const others = before !== undefined && (before.others || !this.#gone.has(before.id));
    const ends = role === 'assistant' && stop_reason !== undefined && stop_reason !== 'tool_calls';
    this.#newest.set(turn, { id, ends, others });
  }

  #isGone(message: Message): boolean {
    return this.#gone.has(message.id) || this.#criteria.isMeant(message, saidIn(message));
  }

  /** True if a summary covers a message to remove: one before the messages that it keeps. */
  #restsOnGone(block: CompressBlock): boolean {
    const first = block.first_kept ?? block.id;
    const { cut } = stateOf(block);
    for (const { id, turn } of this.#gone.values()) {
      const kept = cut === null ? id >= first : turn > cut.turn || (turn === cut.turn && id >= cut.id);
      if (!kept) return true;
    }
    return false;
  }

  /** The message without matching data that hi added to it: recalled messages, the clock line, the folder and the machine. */
  #without(message: Message): Message {
    const { holds } = this.#criteria;
    const content = message.content.filter((part) => !this.#isAddedOfGone(part));
    const { host, ...rest } = message;
    const [forgetsFolder, forgetsHost] = [holds(message.cwd), host !== undefined && holds(host)];
    if (content.length === message.content.length && !forgetsFolder && !forgetsHost) return message;
    const cwd = forgetsFolder ? '' : message.cwd;
    return { ...rest, cwd, content, ...(host !== undefined && !forgetsHost && { host }) };
  }

  #isAddedOfGone(part: Part): boolean {
    if (part.type !== 'text' || (part.recalled === undefined && part.clock !== true)) return false;
    return (part.recalled?.some((id) => this.#gone.has(id)) ?? false) || this.#criteria.holds(part.text);
  }

  #withoutPins(block: CompressBlock): CompressBlock {
    if (block.pins === undefined) return block;
    const messages = block.pins.messages.filter((message) => !this.#isGone(message));
    return messages.length === block.pins.messages.length ? block : { ...block, pins: { ...block.pins, messages } };
  }

  #shellOf({ id, at, ...entry }: Entry): Message {
    const turn = 'turn' in entry ? entry.turn : this.#lastTurn || id;
    return { id, turn, at, role: 'assistant', content: [], cwd: '', stop_reason: 'end' };
  }
}
