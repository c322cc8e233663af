import { describe, expect, it } from '@jest/globals';
import { leastTrust, trustOf } from '../../../lib/history/repair/inventory.js';
import { plainFrames } from '../../../lib/history/repair/other-formats.js';
import { nextFrameStart } from '../../../lib/history/repair/scan-frames.js';

describe('a file in plain JSON', () => {
  const read = (bytes: Buffer) =>
    plainFrames((offset, length) => bytes.subarray(offset, offset + length), bytes.length);

  it.each(['\ufeff[{}]', ' \n[{}]', '{}'])('is read: %j', (text) => {
    expect(read(Buffer.from(text))).toMatchObject([{ found: { content: Buffer.from(text), isVerified: false } }]);
  });

  it.each(['28b52ffd20', '28b52ffd2000', '', '00', '1f8b08', 'fffe5b00'])('is no other: %s', (bytes) => {
    expect(read(Buffer.from(bytes, 'hex'))).toBeNull();
  });
});

describe('the next frame', () => {
  const DATA = Buffer.from('28b52ffd', 'hex');
  const SKIP = Buffer.from('5e2a4d18', 'hex');
  const find = (bytes: Buffer, from: number): number =>
    nextFrameStart((offset, length) => bytes.subarray(offset, offset + length), from, bytes.length);

  it('is at the first place where one may begin, even in a large file', () => {
    for (const magic of [DATA, SKIP])
      for (const at of [0, 1, 5, 1024 * 1024 - 3, 1024 * 1024 - 1, 1024 * 1024, 2 * 1024 * 1024 + 7]) {
        const bytes = Buffer.alloc(2 * 1024 * 1024 + 100, 0x2a);
        magic.copy(bytes, at);
        expect(find(bytes, 0)).toBe(at);
        expect(find(bytes, at)).toBe(at);
        expect(find(bytes, at + 1)).toBe(bytes.length);
      }
  });

  it('is the nearer of two, and none if the bytes only look like one', () => {
    expect(find(Buffer.concat([Buffer.alloc(3), SKIP, DATA]), 0)).toBe(3);
    expect(find(Buffer.concat([Buffer.alloc(3), DATA, SKIP]), 0)).toBe(3);
    expect(find(Buffer.concat([Buffer.from('4f2a4d18', 'hex'), SKIP]), 0)).toBe(4);
    expect(find(Buffer.from('2a4d18ff', 'hex'), 0)).toBe(4);
    expect(find(Buffer.alloc(0), 0)).toBe(0);
  });
});

describe('trust', () => {
  const frame = {
    content: Buffer.alloc(9),
    isIntact: true,
    isVerified: true,
    isComplete: true,
    intactLength: 0,
    next: 9,
  };
  it('is that of the checksum that covers the element', () => {
    expect(trustOf(frame, 9)).toBe('checked');
    expect(trustOf({ ...frame, isVerified: false }, 9)).toBe('plain');
    const damaged = { ...frame, isIntact: false, intactLength: 5 };
    expect([4, 5, 6].map((end) => trustOf(damaged, end))).toEqual(['checked', 'checked', 'none']);
    const all = ['checked', 'plain', 'none'] as const;
    const order = (one: (typeof all)[number]): number => all.indexOf(one);
    for (const one of all)
      for (const other of all) expect(order(leastTrust(one, other))).toBe(Math.max(order(one), order(other)));
  });
});
