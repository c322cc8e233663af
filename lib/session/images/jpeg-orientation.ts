/**
 * The orientation of a JPEG from its Exif: 1 to 8, as in the TIFF specification (1: upright; 5 to 8: on its side). 1 if missing or invalid.
 */
export function jpegOrientation(bytes: Uint8Array): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 2; at + 4 <= view.length && view[at] === 0xff && view[at + 1] !== START_OF_SCAN; ) {
    const length = view.readUInt16BE(at + 2);
    const isExif = view[at + 1] === APP1 && view.toString('latin1', at + 4, at + 10) === 'Exif\0\0';
    if (isExif) return inExif(view.subarray(at + 10, at + 2 + length));
    at += 2 + length;
  }
  return 1;
}

const APP1 = 0xe1;
const START_OF_SCAN = 0xda;

/** TIFF 6.0: byte order, 42, the offset of the first directory; a directory is a count and entries of 12 bytes. */
function inExif(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number): number => {
    if (at + 2 > tiff.length) return 0;
    return isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  };
  if (tiff.length < 8) return 1;
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const entries = Array.from({ length: short(directory) }, (_, index) => directory + 2 + 12 * index);
  const entry = entries.find((at) => short(at) === ORIENTATION);
  const found = entry === undefined ? 1 : short(entry + 8);
  return found >= 1 && found <= 8 ? found : 1;
}

const ORIENTATION = 0x112;
