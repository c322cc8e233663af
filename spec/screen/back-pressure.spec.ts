import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { ChatEvent } from '../../lib/chat/event.js';
import { Screen } from '../../lib/screen/screen.js';
import { fakeStreams } from '../support/fake-streams.js';

const PIECES = 1000;
const PIECE = 'x'.repeat(100);

/** A reader that takes nothing before it is told to, and what it has taken. */
function lateReader() {
  let taken = '';
  const waiting: (() => void)[] = [];
  let isReading = false;
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      taken += text;
      if (isReading) done();
      else waiting.push(done);
    },
  });
  return {
    stream,
    taken: () => taken,
    read() {
      isReading = true;
      for (const done of waiting.splice(0)) done();
    },
  };
}

describe('an answer for a reader that stops reading', () => {
  it('is paused when the pipe is full, and resumes with the reader', async () => {
    const reader = lateReader();
    const screen = new Screen(
      { ...fakeStreams(false), out: reader.stream },
      { quiet: false, styled: null, thinking: true, exact: true, now: Date.now },
    );
    let fetched = 0;
    async function* answer(): AsyncGenerator<ChatEvent> {
      for (; fetched < PIECES; fetched += 1) {
        yield { type: 'text', text: PIECE };
        await turn();
      }
    }
    const following = screen.follow(answer());
    for (let turns = 0; turns < 2 * PIECES; turns += 1) await turn();
    expect(fetched * PIECE.length).toBeLessThan(2 * reader.stream.writableHighWaterMark);
    reader.read();
    await following;
    await screen.flush();
    expect(reader.taken()).toBe(PIECE.repeat(PIECES));
  });
});
