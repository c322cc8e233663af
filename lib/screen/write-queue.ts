import type { Writable } from 'node:stream';

/** Hands text to streams in the order it was put, with one write for all that a stream gets within a short time. */
export interface WriteQueue {
  put(stream: Writable, text: string): void;
  /** Hands over now what is pending. */
  flush(): void;
  /** True while a stream has more than it takes at once: whoever produces should wait for `drained`. */
  isFull(): boolean;
  /** Resolves when everything put so far has left the process, or its stream is closed. */
  drained(): Promise<void>;
}

/**
 * An outlet without anything pending. What is put after a pause is written in the same tick of the event loop; after that a write follows the last
 * one no sooner than after `interval` milliseconds.
 */
export function createWriteQueue(interval: number): WriteQueue {
  let pending: { readonly stream: Writable; text: string }[] = [];
  let scheduled = false;
  let immediate: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const used = new Set<Writable>();

  function schedule(): void {
    scheduled = true;
    const wait = interval === 0 ? 0 : writtenAt + interval - performance.now();
    if (wait > 0) timer = setTimeout(flush, wait);
    else immediate = setImmediate(flush);
  }

  function flush(): void {
    if (scheduled) {
      clearImmediate(immediate);
      clearTimeout(timer);
    }
    scheduled = false;
    if (interval > 0) writtenAt = performance.now();
    const batch = pending;
    pending = [];
    for (const { stream, text } of batch) stream.write(text);
  }

  return {
    put(stream, text) {
      if (text === '') return;
      const last = pending.at(-1);
      if (last?.stream === stream) last.text += text;
      else pending.push({ stream, text });
      used.add(stream);
      if (!scheduled) schedule();
    },
    flush,
    isFull() {
      for (const stream of used) if (stream.writableNeedDrain) return true;
      return false;
    },
    async drained() {
      flush();
      await Promise.all([...used].map(written));
    },
  };
}

/** An empty write is called back after everything before it; a closed stream calls back with an error, which is the end of it too. */
function written(stream: Writable): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => stream.write('', () => resolve()));
}
