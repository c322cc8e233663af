import type { ByteStream } from '../body.js';

/** What listeners get of each event. */
interface Events {
  data: Uint8Array;
  end: undefined;
  error: Error;
  close: undefined;
}

type Listener<Name extends keyof Events> = (value: Events[Name]) => void;

/**
 * The body of a response of Bun's `fetch` as a stream of bytes. Node's `Readable` would take a start as long as the
 * request.
 */
export class FetchedBody implements ByteStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #controller: AbortController;
  readonly #listeners: { readonly [Name in keyof Events]: Listener<Name>[] } = {
    data: [],
    end: [],
    error: [],
    close: [],
  };
  #isFlowing = false;
  #isReading = false;
  #isOver = false;

  /** `controller` aborts the request of the response. */
  constructor({ body }: Response, controller: AbortController) {
    this.#reader = body?.getReader() ?? null;
    this.#controller = controller;
  }

  on<Name extends keyof Events>(event: Name, listener: Listener<Name>): this {
    this.#listeners[event].push(listener);
    return this;
  }

  pause(): this {
    this.#isFlowing = false;
    return this;
  }

  resume(): this {
    this.#isFlowing = true;
    if (!this.#isReading) void this.#read();
    return this;
  }

  destroy(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.abort();
    process.nextTick(() => {
      if (error !== undefined) this.#emit('error', error);
      this.#emit('close', undefined);
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (let read = await this.#next(); read !== null; read = await this.#next()) yield read;
      this.#isOver = true;
    } finally {
      this.destroy();
    }
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isFlowing && !this.#isOver) {
        const bytes = await this.#next();
        if (bytes === null) this.#end();
        else if (!this.#isOver) this.#emit('data', bytes);
      }
    } catch (thrown) {
      this.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    this.#isReading = false;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#emit('end', undefined);
    this.#emit('close', undefined);
  }

  /** The next bytes; null at the end. */
  async #next(): Promise<Uint8Array | null> {
    const read = await this.#reader?.read();
    return read?.value ?? null;
  }

  #emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    for (const listener of this.#listeners[event]) listener(value);
  }
}
