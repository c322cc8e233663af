import type { StreamEvent } from '../../../chat/event.js';

/** The maximum number of buffered pieces. Beyond that, reading pauses. */
const MAX_PIECES = 64;

/** The maximum number of buffered characters. A fast server would fill the memory while the terminal is slow. */
const MAX_CHARACTERS = 16_384;

/**
 * A queue between a vendor's stream and the turn. Events that arrive together are returned together, with pieces of text joined: each event then passes
 * through half a dozen generators, which for a fast server takes longer than reading the answer.
 */
export class CoalescedStream {
  readonly #check: (event: StreamEvent) => StreamEvent;
  #events: StreamEvent[] = [];
  #pieces = 0;
  #characters = 0;
  #end: { readonly failure: unknown } | null = null;
  /** The current capacity in pieces. It begins with 1, so that the first piece is passed on at once. */
  #room = 1;
  #isClosed = false;
  #wake = () => {};
  #goOn = () => {};

  /** `check` is called with every event, and throws for an invalid one. */
  constructor(check: (event: StreamEvent) => StreamEvent) {
    this.#check = check;
  }

  /** Reads a stream into the queue. Resolves at its end, even after an error. */
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

  /** The next events, null at the end of the stream. Rejects with the stream's error after all events before it were returned. */
  async take(): Promise<readonly StreamEvent[] | null> {
    if (this.#pieces === 0) this.#goOn();
    if (this.#pieces === 0 && this.#end === null) await this.#change();
    if (!this.#isFull && this.#end === null) await Promise.race([this.#change(), turn()]);
    const events = this.#events;
    // One event may have tens of megabytes, so nothing is read ahead after much text.
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

  /** Resolves when the empty queue gets an event, when the queue is full, and at the end. */
  #change(): Promise<void> {
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

/** Resolves after all events that are ready now. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
