import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { monotonic } from '../clock.js';
import { systemCode } from '../errors.js';
import { requireRegularFile } from '../regular-file.js';

/** How long a pipe may stay silent, in milliseconds. */
const QUIET_LIMIT = 2000;
const INTERVAL = 10;

/** The text of a file that the user names. It may be a pipe: `--config <(…)`. Throws system errors, and EFTYPE for a pipe that stays silent. */
export function readNamedFile(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    return found.isFIFO() ? readPipe(descriptor, path) : readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function readPipe(descriptor: number, path: string): string {
  const chunks: Buffer[] = [];
  let quietSince = monotonic();
  for (;;) {
    const chunk = readSome(descriptor);
    if (chunk === 'end' && chunks.length > 0) return Buffer.concat(chunks).toString();
    if (typeof chunk !== 'string') {
      chunks.push(chunk);
      quietSince = monotonic();
    } else if (monotonic() - quietSince > QUIET_LIMIT) {
      requireRegularFile(path);
      return '';
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, INTERVAL);
  }
}

/** The bytes that are available now. A pipe that no process has opened for writing yet also reads as `end`. */
function readSome(descriptor: number): Buffer | 'nothing' | 'end' {
  const buffer = Buffer.alloc(65_536);
  try {
    const size = readSync(descriptor, buffer);
    return size === 0 ? 'end' : buffer.subarray(0, size);
  } catch (failure) {
    if (systemCode(failure) === 'EAGAIN') return 'nothing';
    throw failure;
  }
}
