import { crc32, deflateSync } from 'node:zlib';

/** The colour of a pixel: red, green, blue and, in pictures with transparency, how opaque it is. */
export type Paint = (x: number, y: number) => readonly number[];

const RED: Paint = () => [255, 0, 0];

/** A PNG that any program can read: red unless painted otherwise. Paint of four numbers makes one with transparency. */
export function png(width = 1, height = 1, paint = RED): Buffer {
  const channels = paint(0, 0).length;
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (_, x) => paint(x, y)).flat()]),
  );
  return fileOf(width, height, channels, Buffer.concat(rows));
}

/** A grey PNG, which takes no time to make however large it is. */
export function greyPng(width: number, height: number): Buffer {
  const pixels = Buffer.alloc((3 * width + 1) * height, 120);
  for (let y = 0; y < height; y += 1) pixels[y * (3 * width + 1)] = 0;
  return fileOf(width, height, 3, pixels);
}

function fileOf(width: number, height: number, channels: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 4 ? 6 : 2], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
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
