/** Writes to a stream of the process without Node's streams. */
export interface Sink {
  write(bytes: Uint8Array): unknown;
  /** Resolves where the reader has to catch up first. */
  flush(): number | Promise<number>;
}

/** What the executable takes of Bun itself: each costs next to nothing there, and Node's own in its place several milliseconds. */
interface Bun {
  readonly isMainThread: boolean;
  readonly stdout: { writer(): Sink };
  readonly stderr: { writer(): Sink };
  readonly hash: { xxHash64(bytes: Uint8Array): bigint };
  zstdCompressSync(content: Uint8Array, options: { readonly level: number }): Buffer;
  zstdDecompressSync(bytes: Uint8Array): Buffer;
}

/** Only what is in the executable alone may use it, which `scripts/build/for-bun.ts` puts in the place of another file: Node has none. */
export const bun = (globalThis as unknown as { readonly Bun: Bun }).Bun;
