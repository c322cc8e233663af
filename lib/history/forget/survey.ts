import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  type UnknownEntry,
} from '../../chat/entry.js';
import type { Message, Part } from '../../chat/message.js';
import { originalText } from '../../chat/stored-text.js';
import { stateOf } from '../../view/block-state.js';
import { heartbeat } from '../lock/holder.js';
import type { Criteria } from './criteria.js';
import { saidIn, saidInBlock, saidInUnknown } from './said-in.js';

/** A message of a turn, as far as the end of the turn depends on it. */
interface Newest {
  readonly id: number;
  readonly ends: boolean;
  readonly others: boolean;
}

/**
 * What goes of one log, found in one pass over its entries: the messages that are meant, the summaries that rest on them, and copies of them. Where the log needs
 * something in the place of an entry (its highest id, the end of a turn that stays), a message without content stays.
 */
export class Survey {
  readonly #criteria: Criteria;
  readonly #gone = new Map<number, Message>();
  readonly #removed = new Set<number>();
  readonly #newest = new Map<number, Newest>();
  readonly #shells = new Set<number>();
  #last: Entry | null = null;
  #lastTurn = 0;
  /** The id of the oldest message that no summary so far was made of, and of the newest one. */
  #uncovered = Number.POSITIVE_INFINITY;
  #newestSeen = 0;
  /** Whether a summary rested on what is not there any more: so do all that follow it. */
  #isOutdated = false;
  /** The summaries, pins and elements of later versions that go. */
  summaries = 0;
  others = 0;
  /** The messages that stay without something that hi had added to them. */
  shortened = 0;

  constructor(entries: Iterable<Entry>, criteria: Criteria) {
    this.#criteria = criteria;
    for (const entry of entries) this.#add(entry);
    for (const { id, ends, others } of this.#newest.values()) if (ends && others) this.#shells.add(id);
    if (this.#last !== null) this.#shells.add(this.#last.id);
  }

  /** The messages that go, oldest first. Those that an earlier run left without content do not count. */
  get messages(): readonly Message[] {
    return [...this.#gone.values()].filter(({ content }) => content.length > 0);
  }

  /** Whether all of the log stays as it is. */
  get isEmpty(): boolean {
    return this.messages.length + this.summaries + this.others + this.shortened === 0;
  }

  /** What becomes of an entry; null for nothing. */
  change(entry: Entry): Entry | null {
    if (this.#gone.has(entry.id) || this.#removed.has(entry.id))
      return this.#shells.has(entry.id) ? this.#shellOf(entry) : null;
    if (isMessage(entry)) return this.#without(entry);
    return isCompressBlock(entry) ? this.#withoutPins(entry) : entry;
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

  /** Whether none of the messages that a summary was made of is there any more. */
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
    if (!goes) return;
    this.#removed.add(entry.id);
    this.others += 1;
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

  /** Whether a summary was made of a message that goes: of one before those that it keeps. */
  #restsOnGone(block: CompressBlock): boolean {
    const first = block.first_kept ?? block.id;
    const { cut } = stateOf(block);
    for (const { id, turn } of this.#gone.values()) {
      const kept = cut === null ? id >= first : turn > cut.turn || (turn === cut.turn && id >= cut.id);
      if (!kept) return true;
    }
    return false;
  }

  /** The message without what hi added to it of what goes: what it recalled, the line of the clock, the folder and the machine. */
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
