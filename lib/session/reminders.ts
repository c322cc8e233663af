import { isMessage } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import { type Message, type Part, recalledIn, type TextPart, textOf, typedText } from '../chat/message.js';
import { localTime, quantity } from '../chat/text.js';
import { recalledLine } from '../chat/transcript.js';
import type { HistoryStore } from '../history/store.js';
import { askedIn, mayAsk } from '../recall/asked.js';
import type { Reminded } from '../recall/search.js';
import { recalledParts } from '../recall/show/for-model.js';
import { isSameDay, offsetFromUtc } from '../time-zone/time-zone.js';
import { monotonic } from '../waits.js';
import type { Clock, SessionSearch } from './common/deps.js';

/** The number of messages that must be out of view. */
const OUT_OF_VIEW = 4;

/**
 * The maximum delay of a message in milliseconds. Only a disk or a machine that hangs takes this long: a search reads a
 * limited part of the index.
 */
const PATIENCE = 3000;

/**
 * A window of this size or larger takes the configured tokens. A smaller one mostly belongs to a server that reads
 * slowly: half the window, a quarter of them.
 */
const SMALL_WINDOW = 32_000;

const TOO_SHORT = `fewer than ${OUT_OF_VIEW} messages are out of view.`;

/** Automatic recall: searches the conversation once for each message of the user. */
export class Reminders {
  readonly #history: HistoryStore;
  readonly #search: SessionSearch;
  /** The size of the window in tokens. */
  readonly #window: () => number;
  isOn: boolean;
  #why = 'No message has been sent yet.';
  #hasSearched = false;

  constructor(history: HistoryStore, search: SessionSearch, window: () => number) {
    this.#history = history;
    this.#search = search;
    this.#window = window;
    this.isOn = search.auto;
  }

  /** Whether it has opened the index. */
  get hasSearched(): boolean {
    return this.#hasSearched;
  }

  /** What was recalled for the last message, and why. */
  get why(): string {
    return this.#why;
  }

  /** The texts to append to a message. Yields a line for the screen. Never fails: the message is sent without them. */
  async *for(content: readonly Part[]): AsyncGenerator<ChatEvent, readonly TextPart[]> {
    try {
      const parts = await this.#recalled(typedText(content));
      if (parts.length > 0) yield { type: 'notice', level: 'info', text: recalledLine(parts) };
      return parts;
    } catch {
      this.#why = 'The conversation could not be searched. To see why, run: hi config check';
      return [];
    }
  }

  async #recalled(message: string): Promise<readonly TextPart[]> {
    if (!this.isOn) return this.#nothing('automatic recall is off.');
    const hasBooks = this.#search.hasBooks?.() === true;
    if (this.#history.length < OUT_OF_VIEW && !hasBooks) return this.#nothing(TOO_SHORT);
    const { messages } = this.#history.view(null);
    if (this.#history.length - messages.length < OUT_OF_VIEW && !hasBooks) return this.#nothing(TOO_SHORT);
    const asked = askedIn(message);
    if (!mayAsk(asked)) return this.#nothing('the message has no rare words.');
    const seen = new Set(messages.flatMap(({ id, content }) => [id, ...recalledIn(content)]));
    const texts = new Set(messages.map(({ content }) => textOf(content)));
    const known = { isSeen: (id: number) => seen.has(id), isSaid: (text: string) => texts.has(text) };
    const finder = await (this.#search.sending?.() ?? this.#search.finder());
    this.#hasSearched = true;
    const reminded = await finder.remind(asked, known, this.#room, monotonic() + PATIENCE);
    if (reminded === 'late') return this.#nothing(`the search took longer than ${PATIENCE / 1000} s.`);
    return this.#partsOf(reminded, asked);
  }

  /** The maximum number of tokens to recall. */
  get #room(): number {
    const share = Math.min(1, this.#window() / SMALL_WINDOW);
    return Math.floor(this.#search.tokens * share * share);
  }

  #partsOf({ reminders, best, thresholds }: Reminded, asked: string): readonly TextPart[] {
    const { whole, newest } = thresholds;
    const limits = `The threshold is ${whole.toFixed(1)}, for recent messages ${newest.toFixed(1)}.`;
    const sure = best === 0 ? `No match comes near it. ${limits}` : `The best match has ${best.toFixed(1)}. ${limits}`;
    if (reminders.length === 0) return this.#nothing(`nothing outside the view matches well enough. ${sure}`);
    const parts = recalledParts(reminders, asked, this.#room);
    if (parts.length === 0) return this.#nothing(`the matches are too long. ${sure}`);
    const names = parts.flatMap(({ recalled, book }) => recalled.map((id) => (book ? `#${book}:${id}` : `#${id}`)));
    this.#why = `Recalled for the last message: ${names.join(', ')}. ${sure}`;
    return parts;
  }

  #nothing(reason: string): readonly TextPart[] {
    this.#why = `Nothing was recalled for the last message: ${reason}`;
    return [];
  }
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Where the user wrote a message. */
type Place = Required<Pick<Message, 'cwd' | 'host' | 'zone'>>;

/** The line to put before the user's message, null for none, and the place to record with it. */
interface ClockReading {
  readonly line: TextPart | null;
  readonly place: Pick<Message, 'host' | 'zone'>;
}

/**
 * Yields a line only if the time or place differs from that of the last message, so that most messages cost nothing.
 */
export function readClock(clock: Clock, cwd: string, history: HistoryStore): ClockReading {
  const place = { host: clock.host.split('.')[0] ?? clock.host, zone: zoneOf(clock.now()) };
  const sent = history.view(null).messages;
  const messages = sent.length > 0 ? sent : history.entries.filter(isMessage);
  const newest = messages.at(-1);
  const user = messages.findLast(({ role, zone }) => role === 'user' && zone !== undefined);
  return { line: newest === undefined ? null : lineAfter(newest, user, { cwd, ...place }, clock), place };
}

function lineAfter(
  newest: Message,
  user: Message | undefined,
  { cwd, host, zone }: Place,
  { now, home }: Clock,
): TextPart | null {
  const [time, then] = [now(), new Date(newest.at)];
  const gap = time.getTime() - then.getTime();
  const hasMoved = user !== undefined && user.host !== host;
  const hasTurned = user !== undefined && user.zone !== zone;
  const isElsewhere = hasMoved || hasTurned || (user ?? newest).cwd !== cwd;
  if (gap <= HOUR && isSameDay(time, then) && !isElsewhere) return null;
  const parts = [
    `${localTime(time.toISOString())} ${zone}`,
    ...(gap > HOUR ? [`${gapOf(gap)} later`] : []),
    home !== '' && (cwd === home || cwd.startsWith(`${home}/`)) ? `~${cwd.slice(home.length)}` : cwd,
    ...(hasMoved ? [`on ${host}`] : []),
  ];
  return { type: 'text', text: `[${parts.map(asLine).join(' · ')}]`, clock: true };
}

/** The offset from UTC: `UTC+1`, `UTC-3:30`. */
function zoneOf(time: Date): string {
  const minutes = offsetFromUtc(time);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const distance = rest === 0 ? String(hours) : `${hours}:${String(rest).padStart(2, '0')}`;
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${distance}`;
}

/** An elapsed time, in the largest unit of which there are at least two. */
function gapOf(gap: number): string {
  if (gap < 2 * DAY) return quantity(Math.round(gap / HOUR), 'hour');
  if (gap < 60 * DAY) return quantity(Math.round(gap / DAY), 'day');
  return gap < 730 * DAY
    ? quantity(Math.round(gap / (30.44 * DAY)), 'month')
    : quantity(Math.floor(gap / (365.25 * DAY)), 'year');
}

/** Folder names may contain any character. */
function asLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '?');
}
