import { fstatSync, writeSync } from 'node:fs';
import { bun, type Sink } from '../../bun.js';
import type { Output } from './world.js';

/**
 * A stream of the process without what Bun needs for its own, which takes longer to load than a request. A terminal gets that one: it tells the size of its
 * window. Node's modules are loaded by the first who writes: `--version` needs none of them.
 */
export function directOutput(name: 'stdout' | 'stderr'): Output {
  const descriptor = name === 'stdout' ? 1 : 2;
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO() || stats.isSocket()) return waiting(bun[name].writer());
    if (stats.isFile() || !process.getBuiltinModule('node:tty').isatty(descriptor)) return immediate(descriptor);
  } catch {
    // A closed descriptor is for Bun to say.
  }
  return process[name];
}

/** A pipe may be full: the next text waits until somebody has read. */
function waiting(sink: Sink): Output {
  return new (process.getBuiltinModule('node:stream').Writable)({
    write(bytes: Uint8Array, _encoding, done) {
      try {
        // A closed pipe rejects both.
        const steps = [sink.write(bytes), sink.flush()];
        if (steps.some((step) => step instanceof Promise)) Promise.all(steps).then(() => done(), done);
        else done();
      } catch (thrown) {
        done(asError(thrown));
      }
    },
  });
}

/** A file takes everything at once. */
function immediate(descriptor: number): Output {
  return new (process.getBuiltinModule('node:stream').Writable)({
    write(bytes: Uint8Array, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
        done();
      } catch (thrown) {
        done(asError(thrown));
      }
    },
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
