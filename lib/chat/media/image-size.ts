/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size in the header of a PNG, JPEG, GIF or WebP. Null for anything else, and if the header is cut off, damaged or has no size. */
export function imageSize(bytes: Uint8Array): ImageSize | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = READERS.find(([signature]) => signature.test(view.toString('latin1', 0, SIGNATURE)))?.[1](view) ?? null;
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

const SIGNATURE = 12;

const READERS: readonly (readonly [signature: RegExp, read: (bytes: Buffer) => ImageSize | null])[] = [
  [/^\x89PNG\r\n\x1a\n/, ofPng],
  [/^\xff\xd8\xff/, ofJpeg],
  [/^GIF8[79]a/, ofGif],
  [/^RIFF[\s\S]{4}WEBP/, ofWebp],
];

/** https://www.w3.org/TR/png-3: the first chunk is `IHDR` of 13 bytes, and no side has more than 2^31 - 1. */
function ofPng(bytes: Buffer): ImageSize | null {
  if (bytes.length < 33 || bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  const [width, height] = [bytes.readInt32BE(16), bytes.readInt32BE(20)];
  return { width, height };
}

/** ITU-T T.81: segments with their lengths. A segment of a `SOF` kind has the size; the image data begins with `SOS`. */
function ofJpeg(bytes: Buffer): ImageSize | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of FF bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return null;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** `DHT`, `JPG` and `DAC` are in the range of the frame markers. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];

function ofGif(bytes: Buffer): ImageSize | null {
  return bytes.length < 13 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** RFC 9649: lossy, lossless, or with more than the picture. */
function ofWebp(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      if (bytes.toString('hex', 23, 26) !== '9d012a') return null;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const sides = bytes.readUInt32LE(21);
      return bytes[20] === 0x2f ? { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 } : null;
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}
