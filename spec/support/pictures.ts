import { crc32, deflateSync } from 'node:zlib';

/** The colour of a pixel: red, green, blue and, in pictures with transparency, how opaque it is. */
export type Paint = (x: number, y: number) => readonly number[];

const RED: Paint = () => [255, 0, 0];

/** A PNG that any program can read: red unless painted otherwise. Paint of four numbers makes one with transparency. */
export function png(width = 1, height = 1, paint = RED): Buffer {
  const channels = paint(0, 0).length;
  const rows = Array.from({ length: height }, (_, y) => [
    0,
    ...Array.from({ length: width }, (_, x) => paint(x, y)).flat(),
  ]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 4 ? 6 : 2], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows.map((row) => Buffer.from(row))))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

/** Colours that no format can make small, the same ones each time. */
export const NOISE: Paint = (x, y) => {
  const mixed = Math.imul((x * 73_856_093) ^ (y * 19_349_663), 2_654_435_761) >>> 8;
  return [mixed & 255, (mixed >> 8) & 255, (mixed >> 16) & 255];
};
