import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Codec, prepareCodec } from '../../../lib/history/file/codec.js';
import { type Frame, frameAt, type ReadBytes } from '../../../lib/history/file/frames.js';
import { loadWasmCodec } from '../../../lib/history/file/wasm-codec.js';
import fc from '../../support/properties.js';
import { prose } from '../../support/prose.js';

const readerOf =
  (bytes: Buffer): ReadBytes =>
  (offset, length) =>
    bytes.subarray(offset, offset + length);

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt(readerOf(bytes), at, bytes.length);
    if (frame === null) return frames;
    frames.push(frame);
    at += frame.size;
  }
  return frames;
}

function zstd(input: Buffer, ...options: string[]): Buffer {
  return spawnSync('zstd', [...options, '-c'], { input, maxBuffer: 2 ** 28 }).stdout;
}

function decompressed(codec: Codec, bytes: Buffer, frame: Frame): string | null {
  try {
    return codec.decompress(bytes.subarray(0, frame.size), frame).toString();
  } catch {
    return null;
  }
}

const CODECS: readonly (readonly [string, () => Promise<Codec>])[] = [
  ['this machine', prepareCodec],
  ['the program itself, in WebAssembly', () => loadWasmCodec(3)],
];

describe.each(CODECS)('frames of the zstd of %s', (_name, load) => {
  let codec: Codec;
  beforeAll(async () => {
    codec = await load();
  });

  it('are delimited by their headers alone, whatever was compressed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 5 }), async (contents) => {
        const parts = contents.map((content) => codec.compress(content));
        const frames = framesOf(Buffer.concat(parts));
        expect(frames.map(({ size, content }) => [size, content])).toEqual(
          parts.map((part, index) => [part.length, contents[index]?.length]),
        );
      }),
    );
  });

  it('contain what was put in, and plain zstd reads the same', async () => {
    for (const length of [0, 1, 300, 200_000, 3_000_000]) {
      const content = Buffer.from(prose(length, length));
      const bytes = codec.compress(content);
      const [frame] = framesOf(bytes);
      expect(frame && codec.decompress(bytes, frame).equals(content)).toBe(true);
      expect(zstd(bytes, '-d').equals(content)).toBe(true);
    }
  });

  it('of plain zstd are read, with and without their size and checksum', async () => {
    const content = Buffer.from(prose(700_000, 1));
    for (const options of [
      ['-3'],
      ['-19'],
      ['--no-check'],
      ['--no-content-size'],
      ['--fast=5'],
      ['-3', '--long=24'],
      ['-3', '--long=31'],
    ]) {
      const bytes = zstd(content, ...options);
      const [frame, ...rest] = framesOf(bytes);
      expect(rest).toEqual([]);
      expect(frame && codec.decompress(bytes, frame).equals(content)).toBe(true);
    }
  });

  it('that are cut anywhere are invalid', async () => {
    const bytes = codec.compress(Buffer.from(prose(2000, 1)));
    for (let end = 0; end < bytes.length; end += 1) {
      expect(frameAt(readerOf(bytes.subarray(0, end)), 0, end)).toBeNull();
    }
  });

  it('that are damaged are never taken for intact ones with other content', async () => {
    const content = Buffer.from(prose(2000, 1));
    const bytes = codec.compress(content);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(bytes);
        damaged.writeUInt8(damaged.readUInt8(at) ^ change, at);
        const frame = frameAt(readerOf(damaged), 0, damaged.length);
        if (frame?.kind !== 'data') return;
        expect(frame.content).toBeLessThanOrEqual(damaged.length * 128 * 1024);
        expect([null, content.toString()]).toContain(decompressed(codec, damaged, frame));
      }),
    );
  });
});
