import type { StreamEvent } from '../../../chat/event.js';

/** The most pieces that wait to be taken; after that, reading the stream waits. */
const MAX_PIECES = 64;

/** The most characters that wait. A server that sends much at a time would fill the memory with pieces that wait for the terminal. */
const MAX_CHARACTERS = 16_384;

/**
 * Events on their way from a vendor's stream to the turn. Events that arrive together are taken together, with the pieces of a text joined: each event passes
 * through half a dozen generators after this, which for a fast server costs more than reading the answer.
 */
export class CoalescedStream {
  readonly #check: (event: StreamEvent) => StreamEvent;
  #events: StreamEvent[] = [];
  #pieces = 0;
  #characters = 0;
  #end: { readonly failure: unknown } | null = null;
  /** How many pieces fit. The first one is passed on before the next is read: it is what people wait for. */
  #room = 1;
  #isClosed = false;
  #wake = () => {};
  #goOn = () => {};

  /** `check` is called with every event, and throws for an invalid one. */
  constructor(check: (event: StreamEvent) => StreamEvent) {
    this.#check = check;
  }

  /** Takes in a stream. Resolves at its end, however it ends. */
  async fill(stream: AsyncIterable<StreamEvent>): Promise<void> {
    let failure: unknown = null;
    try {
      for await (const event of stream) {
        if (this.#isClosed) return;
        this.#add(this.#check(event));
        if (this.#isFull) {
          await new Promise<void>((resolve) => {
            this.#goOn = resolve;
          });
        }
      }
    } catch (thrown) {
      failure = thrown;
    }
    this.#end = { failure };
    this.#wake();
  }

  /** The next events, null at the end of the stream. Rejects with what the stream failed with, after everything that came before. */
  async take(): Promise<readonly StreamEvent[] | null> {
    if (this.#pieces === 0) this.#goOn();
    if (this.#pieces === 0 && this.#end === null) await this.#news();
    if (!this.#isFull && this.#end === null) await Promise.race([this.#news(), turn()]);
    const events = this.#events;
    // One event may be tens of megabytes: behind much text nothing is read ahead.
    const isLarge = this.#characters >= MAX_CHARACTERS;
    this.#events = [];
    this.#pieces = 0;
    this.#characters = 0;
    this.#room = MAX_PIECES;
    if (!isLarge) this.#goOn();
    if (events.length > 0) return events;
    if (this.#end?.failure) throw this.#end.failure;
    return null;
  }

  /** Stops reading the stream. */
  close(): void {
    this.#isClosed = true;
    this.#goOn();
  }

  get #isFull(): boolean {
    return this.#pieces >= this.#room || this.#characters >= MAX_CHARACTERS;
  }

  /** Resolves when something came where nothing was, when no more fits, and at the end. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #add(event: StreamEvent): void {
    const last = this.#events.at(-1);
    const isText = event.type === 'text' || event.type === 'thinking';
    if (isText) this.#characters += event.text.length;
    if (isText && last?.type === event.type) {
      this.#events[this.#events.length - 1] = { type: event.type, text: last.text + event.text };
    } else {
      this.#events.push(event);
    }
    this.#pieces += 1;
    if (this.#pieces === 1 || this.#isFull) this.#wake();
  }
}

/** Resolves when everything that is ready now has been handled. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
