import type { ChatEvent } from '../chat/event.js';
import { type Part, recalledIn, type TextPart, textOf, typedText } from '../chat/message.js';
import { recalledLine } from '../chat/transcript.js';
import { monotonic } from '../clock.js';
import type { HistoryStore } from '../history/store.js';
import type { Recall } from '../recall/recall.js';
import type { Reminded } from '../recall/search.js';

/** How many messages must be out of view, and how long a search may delay the message, in milliseconds. */
const OUT_OF_VIEW = 200;
const BUDGET = 50;

const TOO_SHORT = `fewer than ${OUT_OF_VIEW} messages are out of view.`;

/** Automatic recall: searches the conversation once for each message of the user. */
export class Reminders {
  readonly #history: HistoryStore;
  readonly #finder: () => Promise<Recall>;
  isOn: boolean;
  #why = 'No message has been sent yet.';

  constructor(history: HistoryStore, finder: () => Promise<Recall>, isOn: boolean) {
    this.#history = history;
    this.#finder = finder;
    this.isOn = isOn;
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
      this.#why = 'The conversation could not be searched. To see why, run: hi history --verify';
      return null;
    }
  }

  async #recalled(message: string): Promise<TextPart | null> {
    if (!this.isOn) return this.#nothing('automatic recall is off.');
    if (this.#history.length < OUT_OF_VIEW) return this.#nothing(TOO_SHORT);
    const end = monotonic() + BUDGET;
    const { askedIn, mayAsk } = await import('../recall/asked.js');
    const asked = askedIn(message);
    if (!mayAsk(asked)) return this.#nothing('the message has no rare words.');
    const { messages } = this.#history.view(null);
    if (this.#history.length - messages.length < OUT_OF_VIEW) return this.#nothing(TOO_SHORT);
    const seen = new Set(messages.flatMap(({ id, content }) => [id, ...recalledIn(content)]));
    const texts = new Set(messages.map(({ content }) => textOf(content)));
    const known = { isSeen: (id: number) => seen.has(id), isSaid: (text: string) => texts.has(text) };
    const finder = await this.#finder();
    const reminded = await finder.remind(asked, known, end);
    if (reminded === 'uncalibrated')
      return this.#nothing('the threshold is not calibrated yet. To calibrate it now, run: hi recall --rebuild');
    if (reminded === 'late') return this.#nothing(`the search took longer than ${BUDGET} ms.`);
    return await this.#partOf(reminded, asked);
  }

  async #partOf({ reminders, best, threshold }: Reminded, asked: string): Promise<TextPart | null> {
    const sure =
      best === 0
        ? `No match comes near the threshold of ${threshold.toFixed(1)}.`
        : `The best match has ${best.toFixed(1)}; the threshold is ${threshold.toFixed(1)}.`;
    if (reminders.length === 0) return this.#nothing(`nothing outside the view matches well enough. ${sure}`);
    const { recalledText } = await import('../recall/show/recalled-text.js');
    const recalled = recalledText(reminders, asked);
    if (recalled === null) return this.#nothing(`the matches are too long. ${sure}`);
    this.#why = `Recalled for the last message: ${recalled.ids.map((id) => `#${id}`).join(', ')}. ${sure}`;
    return { type: 'text', text: recalled.text, recalled: recalled.ids };
  }

  #nothing(reason: string): null {
    this.#why = `Nothing was recalled for the last message: ${reason}`;
    return null;
  }
}
