import { fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { bun, type Sink } from '../../bun.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { isNullDevice } from '../base/world.js';
import { DirectStream } from './direct-stream.js';

/**
 * A stream of the process without what Bun needs for its own, which takes longer to load than a request. A terminal gets that one: it tells the size of its
 * window.
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
