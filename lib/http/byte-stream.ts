/** What is used of a stream of bytes. Node's `Readable` is one. Begin to listen, then call `resume`. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  on(event: 'data', listener: (bytes: Uint8Array) => void): this;
  on(event: 'end' | 'close', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  pause(): this;
  resume(): this;
  /** Ends it where it is, and what it reads from; with an error, listeners get that. */
  destroy(error?: Error): unknown;
}
