import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { monotonic } from '../clock.js';
import { systemCode } from '../errors.js';
import { requireRegularFile } from '../regular-file.js';

/** How long a pipe may send nothing, in milliseconds. */
const QUIET_LIMIT = 2000;
const INTERVAL = 10;

/** The text of a file that the user names, which may be a pipe: `--config <(…)`. Throws what the system throws, and EFTYPE for a pipe that nobody writes to. */
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

/** What is there now. A pipe that nobody has opened to write yet is at its end too. */
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
