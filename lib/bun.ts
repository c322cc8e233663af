/** Writes to a stream of the process without Node's streams. */
export interface Sink {
  write(bytes: Uint8Array): unknown;
  /** Resolves when the reader has caught up. */
  flush(): number | Promise<number>;
}

/** The functions of Bun that the executable uses: Node's own versions of them take several milliseconds there. */
interface Bun {
  readonly isMainThread: boolean;
  readonly stdout: { writer(): Sink };
  readonly stderr: { writer(): Sink };
  readonly hash: { xxHash64(bytes: Uint8Array): bigint };
  zstdCompressSync(content: Uint8Array, options: { readonly level: number }): Buffer;
  zstdDecompressSync(bytes: Uint8Array): Buffer;
}

/**
 * Only for modules that `scripts/build/for-bun.ts` puts into the executable in place of others: Node does not have it.
 */
export const bun = (globalThis as unknown as { readonly Bun: Bun }).Bun;
