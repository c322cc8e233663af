import type { ChatEvent } from '../chat/event.js';
import { type Part, recalledIn, type TextPart, textOf, typedText } from '../chat/message.js';
import { recalledLine } from '../chat/transcript.js';
import { monotonic } from '../clock.js';
import type { HistoryStore } from '../history/store.js';
import { askedIn, mayAsk } from '../recall/asked.js';
import type { Recall } from '../recall/recall.js';
import type { Reminded } from '../recall/search.js';
import { recalledText } from '../recall/show/recalled-text.js';
import type { SessionDeps } from './common/deps.js';

/** The number of messages that must be out of view. */
const OUT_OF_VIEW = 4;

/** The maximum delay of a message in milliseconds. Only a disk or a machine that hangs takes this long: a search reads a limited part of the index. */
const PATIENCE = 3000;

/** A window of this size or larger takes the configured tokens. A smaller one mostly belongs to a server that reads slowly: half the window, a quarter of them. */
const SMALL_WINDOW = 32_000;

const TOO_SHORT = `fewer than ${OUT_OF_VIEW} messages are out of view.`;

/** Automatic recall: searches the conversation once for each message of the user. */
export class Reminders {
  readonly #history: HistoryStore;
  readonly #finder: () => Promise<Recall>;
  readonly #settings: SessionDeps['automaticRecall'];
  /** The size of the window in tokens. */
  readonly #window: () => number;
  isOn: boolean;
  #why = 'No message has been sent yet.';
  #hasSearched = false;

  constructor(
    history: HistoryStore,
    finder: () => Promise<Recall>,
    settings: SessionDeps['automaticRecall'],
    window: () => number,
  ) {
    this.#history = history;
    this.#finder = finder;
    this.#settings = settings;
    this.#window = window;
    this.isOn = settings.auto;
  }

  /** Whether it has opened the index. */
  get hasSearched(): boolean {
    return this.#hasSearched;
  }

  /** What was recalled for the last message, and why. */
  get why(): string {
    return this.#why;
  }

  /** The text to append to a message; null for nothing. Yields a line for the screen. Never fails: the message is sent without it. */
  async *for(content: readonly Part[]): AsyncGenerator<ChatEvent, TextPart | null> {
    try {
      const part = await this.#recalled(typedText(content));
      if (part !== null) yield { type: 'notice', level: 'info', text: recalledLine(part.recalled?.length ?? 0) };
      return part;
    } catch {
      this.#why = 'The conversation could not be searched. To see why, run: hi config check';
      return null;
    }
  }

  async #recalled(message: string): Promise<TextPart | null> {
    if (!this.isOn) return this.#nothing('automatic recall is off.');
    if (this.#history.length < OUT_OF_VIEW) return this.#nothing(TOO_SHORT);
    const { messages } = this.#history.view(null);
    if (this.#history.length - messages.length < OUT_OF_VIEW) return this.#nothing(TOO_SHORT);
    const asked = askedIn(message);
    if (!mayAsk(asked)) return this.#nothing('the message has no rare words.');
    const seen = new Set(messages.flatMap(({ id, content }) => [id, ...recalledIn(content)]));
    const texts = new Set(messages.map(({ content }) => textOf(content)));
    const known = { isSeen: (id: number) => seen.has(id), isSaid: (text: string) => texts.has(text) };
    const finder = await this.#finder();
    this.#hasSearched = true;
    const reminded = await finder.remind(asked, known, this.#room, monotonic() + PATIENCE);
    if (reminded === 'late') return this.#nothing(`the search took longer than ${PATIENCE / 1000} s.`);
    return await this.#partOf(reminded, asked);
  }

  /** The maximum number of tokens to recall. */
  get #room(): number {
    const share = Math.min(1, this.#window() / SMALL_WINDOW);
    return Math.floor(this.#settings.tokens * share * share);
  }

  async #partOf({ reminders, best, thresholds }: Reminded, asked: string): Promise<TextPart | null> {
    const { whole, newest } = thresholds;
    const limits = `The threshold is ${whole.toFixed(1)}, for recent messages ${newest.toFixed(1)}.`;
    const sure = best === 0 ? `No match comes near it. ${limits}` : `The best match has ${best.toFixed(1)}. ${limits}`;
    if (reminders.length === 0) return this.#nothing(`nothing outside the view matches well enough. ${sure}`);
    const recalled = recalledText(reminders, asked, this.#room);
    if (recalled === null) return this.#nothing(`the matches are too long. ${sure}`);
    this.#why = `Recalled for the last message: ${recalled.ids.map((id) => `#${id}`).join(', ')}. ${sure}`;
    return { type: 'text', text: recalled.text, recalled: recalled.ids };
  }

  #nothing(reason: string): null {
    this.#why = `Nothing was recalled for the last message: ${reason}`;
    return null;
  }
}
