import { inflateSync } from 'node:zlib';
import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  originalText,
  storedText,
  type UnknownEntry,
} from '../../chat/entry.js';
import { citedIn } from '../../chat/marked-text.js';
import { type Message, type Part, spokenParts } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';
import { stateOf } from '../../view/block-state.js';
import { heartbeat } from '../lock/holder.js';

/** The newest message of a turn, which decides how the turn ended. */
interface Newest {
  readonly id: number;
  readonly ends: boolean;
  readonly others: boolean;
}

/**
 * Finds the data to forget in one log, in one pass: the matching messages, the summaries based on them, and copies of
 * them. If the log needs an entry in that place (the highest id, the end of a turn that stays), a message without
 * content remains.
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

  /** Whether a message is removed. */
  isRemoved({ id }: Message): boolean {
    return this.#gone.has(id);
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

  /**
   * A mark without what another program added to it, if that holds the text. Without the mark, undone turns would be
   * back.
   */
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

  /**
   * The message without matching data that hi added to it: recalled messages, the clock line, the folder and the
   * machine.
   */
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
    const recallsGone = part.book === undefined && part.recalled?.some((id) => this.#gone.has(id));
    return recallsGone === true || this.#criteria.holds(part.text);
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

/** Decides which entries of a log to forget. */
export interface Criteria {
  /** `said` is the result of `saidIn`. */
  isMeant(message: Message, said: string): boolean;
  isUnknownMeant(at: string, said: string): boolean;
  /**
   * Whether a summary is based on matching messages that no longer exist: it names them, or it `isAlone` and was
   * written since then.
   */
  isSummaryMeant(block: CompressBlock, isAlone: boolean): boolean;
  /** Whether the content contains the text to forget. */
  readonly holds: (content: string) => boolean;
}

/** The criteria for the conversation. `attachments` are the hashes of those that contain the text. */
export function criteriaOf(order: ForgetOrder, attachments: ReadonlySet<string>): Criteria {
  if (order.kind === 'since') {
    const isLater = (at: string): boolean => Date.parse(at) >= order.from.getTime();
    const isSummaryMeant = ({ at }: CompressBlock, isAlone: boolean): boolean => isAlone && isLater(at);
    return { isMeant: ({ at }) => isLater(at), isUnknownMeant: isLater, isSummaryMeant, holds: () => false };
  }
  if (order.kind === 'messages') {
    const ids = new Set(order.ids);
    const isSummaryMeant = ({ content }: CompressBlock): boolean => citedIn(content).some((id) => ids.has(id));
    return { isMeant: ({ id }) => ids.has(id), isUnknownMeant: () => false, isSummaryMeant, holds: () => false };
  }
  const holds = occurrenceOf(order.text);
  const refers = ({ content }: Message): boolean =>
    content.some((part) => (part.type === 'image' || part.type === 'document') && attachments.has(part.sha256));
  return {
    isMeant: (message, said) => holds(said) || refers(message),
    isUnknownMeant: (_at, said) => holds(said) || [...attachments].some((hash) => said.includes(hash)),
    isSummaryMeant: () => false,
    holds,
  };
}

/** The criteria for a copy, in which the ids may belong to different messages. */
export function criteriaForCopy(
  order: ForgetOrder,
  attachments: ReadonlySet<string>,
  messages: readonly Message[],
): Criteria {
  if (order.kind !== 'messages') return criteriaOf(order, attachments);
  const known = new Set(messages.map(signature));
  const isMeant = (message: Message): boolean => known.has(signature(message));
  return { isMeant, isUnknownMeant: () => false, isSummaryMeant: () => false, holds: () => false };
}

const signature = ({ at, role, content }: Message): string => JSON.stringify([at, role, content]);

/** The fields of a message that hi adds, which nobody said. */
const NOTED: ReadonlySet<string> = new Set([
  ...[
    'id',
    'turn',
    'at',
    'role',
    'model',
    'provider',
    'origin',
    'api_base',
    'server',
    'usage',
    'stop_reason',
    'skills',
    'zone',
    'type',
  ],
  ...['cwd', 'host', 'content', 'uid', 'from'],
]);

const NOTED_OF_BLOCK: ReadonlySet<string> = new Set([
  ...['id', 'at', 'type', 'strategy', 'source', 'first_kept', 'messages_compacted', 'messages_kept', 'tokens_before'],
  ...['tokens_after', 'restores', 'rests_on', 'pins', 'provider', 'model', 'api_base', 'server', 'usage', 'aside'],
]);

const NOTED_OF_MARK: ReadonlySet<string> = new Set([
  ...['id', 'at', 'type', 'turns', 'message', 'messages', 'aside', 'v', 'uid', 'forgotten_turns', 'forgotten_messages'],
]);

const NOTED_OF_PART: ReadonlySet<string> = new Set(['type', 'mime', 'sha256', 'bytes', 'width', 'height', 'call_id']);

/** The contents of a message as JSON: its text, calls, results, names of files and sources, without hi's additions. */
function saidIn(message: Message): string {
  const original = originalText(message);
  if (original !== null) return original;
  const parts = spokenParts(message.content).map((part) => without(part, notedOf(part)));
  return JSON.stringify([parts, without(message, NOTED)]);
}

/** A summary as JSON, with what other programs added to it, but without hi's additions and the pinned messages. */
function saidInBlock(block: CompressBlock): string {
  return JSON.stringify(without(block, NOTED_OF_BLOCK));
}

/** What another program added to a mark, as JSON. */
function saidInMark(mark: Mark): string {
  return JSON.stringify(without(mark, NOTED_OF_MARK));
}

/** The mark without that. */
function bareMark(mark: Mark): Mark {
  const { id, at, aside } = mark;
  if (mark.type === 'forgotten') {
    const { type, uid, forgotten_turns, forgotten_messages } = mark;
    return { type, uid, forgotten_turns, forgotten_messages, id, at };
  }
  const known = { id, at, ...(aside && { aside }), ...(mark.v !== undefined && { v: mark.v }) };
  if (mark.type === 'pin') return { type: 'pin', message: mark.message, ...known };
  if (mark.type === 'unpin') return { type: 'unpin', messages: mark.messages, ...known };
  return { type: mark.type, turns: mark.turns, ...known };
}

/** The contents of an entry that this version cannot read. */
function saidInUnknown(entry: UnknownEntry): string {
  return storedText(entry);
}

/** The name of a tool is not something that was said; that of an image is. */
const notedOf = ({ type }: Part): ReadonlySet<string> =>
  type === 'tool_call' || type === 'tool_result' ? new Set([...NOTED_OF_PART, 'name']) : NOTED_OF_PART;

const without = (value: object, keys: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));

/** The most that a compressed part of a document may hold. Bytes. */
const MOST = 64 * 1024 * 1024;

/**
 * Tells whether the bytes of an attachment contain a text: in UTF-8, in UTF-16 of either order, in Latin-1, and in a
 * PDF also in its strings, in whatever way they are written, and in its compressed parts. Not in what a picture shows
 * or a recording says, nor in letters that a font numbers in its own way.
 */
export function occurrenceInBytes(text: string): (bytes: Buffer) => boolean {
  const holds = occurrenceOf(text);
  const cases = [text, text.toLowerCase(), text.toUpperCase()];
  const exact = cases.flatMap((one) => {
    const units = Buffer.from(one, 'utf16le');
    const isLatin = Buffer.from(one, 'latin1').toString('latin1') === one;
    return [units, Buffer.from(units).swap16(), ...(isLatin ? [Buffer.from(one, 'latin1')] : [])];
  });
  const isIn = (bytes: Buffer): boolean =>
    exact.some((one) => bytes.includes(one)) || holds(bytes.toString('utf8')) || holds(wideText(bytes));
  return (bytes) => {
    for (const part of partsOf(bytes)) if (isIn(part)) return true;
    return false;
  };
}

/** The texts in UTF-16 whose letters are those of Latin-1. */
const wideText = (bytes: Buffer): string =>
  (bytes.toString('latin1').match(/(?:[\t-\r -~\xa0-\xff]\0){2,65536}/g) ?? []).join('\n').replaceAll('\0', '');

/** The bytes as they are; of a PDF also with its strings spelled out, and those of its compressed parts. */
function* partsOf(bytes: Buffer): Generator<Buffer> {
  yield bytes;
  if (!bytes.subarray(0, 1024).includes('%PDF-')) return;
  yield* stringsOf(bytes);
  for (const stream of streamsIn(bytes)) {
    yield stream;
    yield* stringsOf(stream);
  }
}

/**
 * The strings of a PDF: without escapes, and those of a line that are placed one by one as one; and those in
 * hexadecimal.
 */
function* stringsOf(bytes: Buffer): Generator<Buffer> {
  const text = bytes.toString('latin1');
  const plain = text
    .replace(/\)\s{0,9}-?[\d.]{0,9}\s{0,9}\(/g, '')
    .replace(/\\(?:([0-7]{1,3})|\r?\n|([\s\S]))/g, (_, octal?: string, one?: string) =>
      octal === undefined ? (SPACES[one ?? ''] ?? one ?? '') : String.fromCharCode(Number.parseInt(octal, 8) & 255),
    );
  yield Buffer.from(plain, 'latin1');
  const hex = text.replace(/>\s{0,9}-?[\d.]{0,9}\s{0,9}</g, '').match(/<[\da-fA-F\s]{4,65536}>/g) ?? [];
  for (const one of hex) yield Buffer.from(one.replace(/[<>\s]/g, ''), 'hex');
}

const SPACES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** What the compressed parts of a PDF decompress to, as far as that is possible. */
function* streamsIn(bytes: Buffer): Generator<Buffer> {
  for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at + 6)) {
    if (bytes.toString('latin1', at - 3, at) === 'end') continue;
    const start = at + 6 + (bytes[at + 6] === 13 ? 2 : 1);
    const end = bytes.indexOf('endstream', start);
    if (end < 0) return;
    try {
      yield inflateSync(bytes.subarray(start, end), { maxOutputLength: MOST, finishFlush: 2 });
    } catch {
      // Packed in another way, or a picture.
    }
  }
}
