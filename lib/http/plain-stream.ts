/** The source of the bytes of a body. */
export interface StreamSource {
  /** Resolves to the next bytes, null at the end. Called only when a reader is waiting, one call at a time. */
  next(): Promise<Uint8Array | null>;
  /** Called when the rest is not needed. */
  stop(): void;
}

type Step = { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value: undefined };

const OVER: Step = { done: true, value: undefined };

/**
 * The part of `ReadableStream` (WHATWG Streams) that the SDKs use: a reader, iteration and cancelling. Node's own takes longer to load than a request
 * takes, and needs several promises for each chunk.
 */
export class PlainStream {
  readonly #source: StreamSource;
  #isOver = false;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  getReader() {
    return {
      read: () => this.#read(),
      releaseLock: () => {},
      cancel: () => this.cancel(),
    };
  }

  [Symbol.asyncIterator]() {
    return {
      next: () => this.#read(),
      return: async () => {
        await this.cancel();
        return OVER;
      },
    };
  }

  async cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.stop();
  }

  /** The same object, typed for the SDKs. */
  asReadableStream(): ReadableStream<Uint8Array> {
    return this as unknown as ReadableStream<Uint8Array>;
  }

  async #read(): Promise<Step> {
    if (this.#isOver) return OVER;
    try {
      const value = await this.#source.next();
      if (value !== null) return { done: false, value };
      this.#isOver = true;
      return OVER;
    } catch (thrown) {
      this.#isOver = true;
      throw thrown;
    }
  }
}
