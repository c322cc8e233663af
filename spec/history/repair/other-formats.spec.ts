import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { leastTrust, trustOf } from '../../../lib/history/repair/inventory.js';
import { readOtherFormat } from '../../../lib/history/repair/other-formats.js';
import { gunzipStart, inUtf8, nextFrameStart } from '../../../lib/history/repair/scan-frames.js';
import fc from '../../support/properties.js';

describe('gzip', () => {
  /** RFC 1952, section 2.3: a header with these optional fields. */
  function withHeader(content: Buffer, flags: number): Buffer {
    const plain = gzipSync(content);
    const parts = [Buffer.from([...plain.subarray(0, 3), flags, ...plain.subarray(4, 10)])];
    if (flags & 4) parts.push(Buffer.from([0x03, 0x01]), Buffer.alloc(0x103, 1));
    if (flags & 8) parts.push(Buffer.from('name.json\0'));
    if (flags & 16) parts.push(Buffer.from('a comment\0'));
    if (flags & 2) parts.push(Buffer.from([1, 2]));
    return Buffer.concat([...parts, plain.subarray(10)]);
  }

  it('is read with every kind of header, as many members as there are, whatever follows', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.nat(31)), { minLength: 1, maxLength: 4 }),
        fc.string(),
        (members, more) => {
          const bytes = members.map(([text, flags]) => withHeader(Buffer.from(text), flags & ~1));
          const size = bytes.reduce((sum, { length }) => sum + length, 0);
          const found = gunzipStart(Buffer.concat([...bytes, Buffer.from(more)]));
          expect(found?.size).toBe(size);
          expect(found?.content.toString()).toBe(Buffer.from(members.map(([text]) => text).join('')).toString());
        },
      ),
    );
  });

  it('that is damaged or cut off anywhere is invalid', () => {
    const bytes = gzipSync('some text that is long enough');
    for (let end = 0; end < bytes.length; end += 1) expect(gunzipStart(bytes.subarray(0, end))).toBeNull();
    for (let at = 0; at < bytes.length; at += 1) {
      // The time, the level and the system of the header say nothing about the content.
      if (at >= 3 && at < 10) continue;
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 0x41, at);
      expect(gunzipStart(damaged)).toBeNull();
    }
    expect(gunzipStart(Buffer.concat([bytes, bytes.subarray(0, 15)]))).toBeNull();
    expect(gunzipStart(Buffer.from('[{}]'))).toBeNull();
  });
});

describe('a file of another format', () => {
  const read = (bytes: Buffer) =>
    readOtherFormat((offset, length) => bytes.subarray(offset, offset + length), bytes.length);

  it.each([
    ['gzip', gzipSync('[{}]'), '[{}]'],
    ['gzip', gzipSync('[{}]').subarray(0, 12), ''],
    ['xz', Buffer.from('fd377a585a', 'hex'), ''],
    ['bzip2', Buffer.from('BZh9'), ''],
    ['a zip archive', Buffer.from('504b0304', 'hex'), ''],
    ['lz4', Buffer.from('04224d18', 'hex'), ''],
    ['UTF-16', Buffer.from('\ufeff[{}]', 'utf16le'), '\ufeff[{}]'],
    ['UTF-16', Buffer.from('\ufeff[{}]', 'utf16le').swap16(), '\ufeff[{}]'],
    ['UTF-16', Buffer.from('[{}]', 'utf16le'), '[{}]'],
    ['UTF-16', Buffer.from('[{}]', 'utf16le').swap16(), '[{}]'],
    ['plain JSON', Buffer.from('\ufeff[{}]'), '\ufeff[{}]'],
    ['plain JSON', Buffer.from(' \n[{}]'), ' \n[{}]'],
    ['plain JSON', Buffer.from('{}'), '{}'],
    ['zstd with the dictionary 7', Buffer.concat([Buffer.from('28b52ffd210700', 'hex'), Buffer.alloc(20)]), ''],
    ['zstd with the dictionary 12345', Buffer.concat([Buffer.from('28b52ffd02003930', 'hex'), Buffer.alloc(20)]), ''],
    ['zstd with the dictionary 12345', Buffer.concat([Buffer.from('28b52ffd2339300000', 'hex'), Buffer.alloc(20)]), ''],
  ])('is named, and read if possible: %s', (format, bytes, content) => {
    const found = read(bytes);
    expect([found?.format, found?.content.toString()]).toEqual([format, content]);
    expect(found?.frames.length).toBe(format.startsWith('zstd') ? 0 : 1);
  });

  it('is verified if a checksum covers it', () => {
    const isVerified = (bytes: Buffer): boolean =>
      read(bytes)?.frames.some((frame) => frame.kind === 'data' && frame.found.isVerified) ?? false;
    expect([gzipSync('[{}]'), Buffer.from('[{}]'), gzipSync('x').subarray(0, 9)].map(isVerified)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is not recognised if it may be zstd, or is unknown', () => {
    for (const bytes of ['28b52ffd20', '28b52ffd2000', '', '00', '7e7e7e7e7e'])
      expect(read(Buffer.from(bytes, 'hex'))).toBeNull();
    expect(read(Buffer.concat([Buffer.from('28b52ffd20', 'hex'), Buffer.alloc(30)]))).toBeNull();
  });

  it('in UTF-16 may end in half a character', () => {
    const bytes = Buffer.from('\ufeffab', 'utf16le');
    expect(inUtf8(bytes.subarray(0, 5)).toString()).toBe('\ufeffa');
    expect(inUtf8(Buffer.from('\ufeffab', 'utf16le').swap16()).toString()).toBe('\ufeffab');
    expect(bytes.toString('utf16le')).toBe('\ufeffab');
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
