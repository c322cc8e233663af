import { Writable } from 'node:stream';
import type { OutputStreams } from '../../lib/screen/screen.js';

/** Streams that keep what is written to them, and in which order. */
export interface FakeStreams extends OutputStreams {
  readonly written: { out: string; err: string; both: string };
}

/** Two streams in memory: terminals with colour, or not terminals at all. */
export function fakeStreams(isTerminal: boolean, columns = 80): FakeStreams {
  const written = { out: '', err: '', both: '' };
  const stream = (name: 'out' | 'err'): Writable =>
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        written[name] += text;
        written.both += text;
        done();
      },
    });
  return {
    written,
    out: stream('out'),
    err: stream('err'),
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    colour: { out: isTerminal, err: isTerminal },
    columns: () => columns,
  };
}
