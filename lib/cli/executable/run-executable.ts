import { fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { bun, type Sink } from '../../bun.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { isNullDevice, realWorld } from '../base/world.js';
import { main } from '../main.js';

/** Runs the program with the outputs of the executable, and sets the exit status of the process. */
export async function runExecutable(): Promise<void> {
  const outputs = new Map<'stdout' | 'stderr', ReturnType<typeof directOutput>>();
  const output = (name: 'stdout' | 'stderr') => {
    const found = outputs.get(name) ?? directOutput(name);
    outputs.set(name, found);
    return found;
  };
  const world = Object.defineProperties(realWorld(), {
    stdout: { get: () => output('stdout') },
    stderr: { get: () => output('stderr') },
  });
  process.exitCode = await main(world);
}

/**
 * A stream of the process without what Bun needs for its own, which takes longer to load than a request. A terminal
 * gets that one: it tells the size of its window.
 */
export function directOutput(name: 'stdout' | 'stderr'): OutputStream {
  const descriptor = name === 'stdout' ? 1 : 2;
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO() || stats.isSocket()) return new DirectStream(intoPipe(bun[name].writer()));
    if (stats.isFile() || isNullDevice(stats) || !isatty(descriptor))
      return new DirectStream((bytes) => writeWhole(descriptor, bytes));
  } catch {
    // A closed descriptor is for Bun to say.
  }
  return process[name];
}

/** A pipe may be full: the next text waits until somebody has read. */
function intoPipe(sink: Sink): (bytes: Uint8Array) => Promise<unknown> | undefined {
  return (bytes) => {
    // A closed pipe rejects both.
    const steps = [sink.write(bytes), sink.flush()];
    return steps.some((step) => step instanceof Promise) ? Promise.all(steps) : undefined;
  };
}

/** A file takes everything at once. */
function writeWhole(descriptor: number, bytes: Uint8Array): undefined {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** How much may wait before writers should, in bytes, as in Node. */
const HIGH_WATER_MARK = 16_384;

interface Waiting {
  readonly bytes: Uint8Array;
  done(error?: Error | null): void;
}

/**
 * A stream that is not a terminal, with as much of Node's `Writable` as is used here: texts leave in order, each after
 * the one before it was taken. The first failure destroys it.
 */
export class DirectStream implements OutputStream {
  /** Writes bytes. Returns a promise where the reader has to catch up first. May throw. */
  readonly #take: (bytes: Uint8Array) => Promise<unknown> | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #listeners: ((error: Error) => void)[] = [];
  #isWriting = false;
  writableLength = 0;
  writableNeedDrain = false;
  destroyed = false;

  constructor(take: (bytes: Uint8Array) => Promise<unknown> | undefined) {
    this.#take = take;
  }

  write(text: string, done: Waiting['done'] = () => undefined): boolean {
    if (this.destroyed) {
      process.nextTick(done, new Error('The stream is closed.'));
      return false;
    }
    const bytes = Buffer.from(text);
    this.#waiting.push({ bytes, done });
    this.writableLength += bytes.length;
    if (!this.#isWriting) void this.#writeWaiting();
    this.writableNeedDrain ||= this.writableLength >= HIGH_WATER_MARK;
    return !this.writableNeedDrain;
  }

  on(event: 'error' | 'resize', listener: (error: Error) => void): this {
    if (event === 'error') this.#listeners.push(listener);
    return this;
  }

  off(): this {
    return this;
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const taken = this.#take(next.bytes);
        if (taken !== undefined) await taken;
        this.#waiting.shift();
        this.writableLength -= next.bytes.length;
        process.nextTick(next.done);
      }
      this.writableNeedDrain = false;
    } catch (thrown) {
      this.#destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    this.#isWriting = false;
  }

  #destroy(error: Error): void {
    this.destroyed = true;
    this.writableLength = 0;
    this.writableNeedDrain = false;
    for (const { done } of this.#waiting.splice(0)) process.nextTick(done, error);
    for (const listener of this.#listeners) process.nextTick(listener, error);
  }
}
