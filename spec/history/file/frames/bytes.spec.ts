import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  bufferedReader,
  fileSize,
  partReader,
  readAt,
  truncateFile,
  writeAt,
} from '../../../../lib/history/file/codec.js';
import { quickFolder } from '../../../support/history.js';
import fc from '../../../support/properties.js';

const CONTENT = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31 + (at >> 8)) & 0xff));

let folder: string;
let file: number;
beforeEach(() => {
  folder = quickFolder();
  writeFileSync(join(folder, 'file'), CONTENT);
  file = openSync(join(folder, 'file'), 'r+');
});
afterEach(() => {
  closeSync(file);
  rmSync(folder, { recursive: true });
});

const place = fc.tuple(fc.nat(5500), fc.nat(1500));

describe('the bytes of a file', () => {
  it('are those requested, fewer only at its end, however they are read', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 12 }), fc.constantFrom(0, 16, 700), (places, ahead) => {
        const buffered = bufferedReader(file, ahead);
        for (const [offset, length] of places) {
          const wanted = CONTENT.subarray(offset, offset + length);
          expect(readAt(file, offset, length).equals(wanted)).toBe(true);
          expect(buffered(offset, length).equals(wanted)).toBe(true);
        }
      }),
    );
  });

  it('of a part are read at once, and belong to that part only', () => {
    fc.assert(
      fc.property(place, place, ([start, size], [from, length]) => {
        const read = partReader(file, start, size);
        const [within, until] = [Math.min(from, size), Math.min(from + length, size)];
        const wanted = CONTENT.subarray(start + within, start + until);
        expect(read(start + within, until - within).equals(wanted)).toBe(true);
        expect(read(start + within, 10_000).equals(CONTENT.subarray(start + within, start + size))).toBe(true);
      }),
    );
  });

  it('that were read ahead are not read again', () => {
    const read = bufferedReader(file, 1000);
    expect(read(10, 4).equals(CONTENT.subarray(10, 14))).toBe(true);
    writeAt(file, Buffer.alloc(5000, 7), 0);
    expect(read(20, 4).equals(CONTENT.subarray(20, 24))).toBe(true);
    expect(read(1006, 4).equals(CONTENT.subarray(1006, 1010))).toBe(true);
    expect(read(1007, 4).equals(Buffer.alloc(4, 7))).toBe(true);
  });

  it('are all written where they belong, and the size follows', () => {
    writeAt(file, Buffer.from('abc'), 4999);
    expect(fileSize(file)).toBe(5002);
    writeAt(file, Buffer.alloc(0), 6000);
    expect(
      readFileSync(join(folder, 'file')).equals(Buffer.concat([CONTENT.subarray(0, 4999), Buffer.from('abc')])),
    ).toBe(true);
    truncateFile(file, 100);
    expect(fileSize(file)).toBe(100);
  });
});
