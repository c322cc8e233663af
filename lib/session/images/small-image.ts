import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import { base64Length, type ImageSize, imageSize, type SmallImage } from '../../chat/media.js';
import type { ImageLimits } from '../../chat/model.js';

/** Decoding a picture with more pixels would take more than a gigabyte. */
const MOST_PIXELS = 100_000_000;
const QUALITY = 85;
/** The factor by which a result that is still too large is scaled again. */
const STEP = 0.75;
const LEAST_SIDE = 64;

/**
 * The picture in the size that the vendor's models use, within its limits: JPEG, or PNG if it has transparency.
 * Upright, as a JPEG's Exif says, and the first frame of several. The same bytes for the same picture. Null if it
 * cannot be decoded, or does not get smaller.
 */
export function smallImage(bytes: Uint8Array, limits: ImageLimits): SmallImage | null {
  const size = imageSize(bytes);
  if (size === null || size.width * size.height > MOST_PIXELS) return null;
  const image = decoded(bytes);
  if (image === null) return null;
  try {
    for (let side = limits.used; side >= LEAST_SIDE; side = Math.round(side * STEP)) {
      const small = scaled(image, side, jpegOrientation(bytes));
      const isSmaller = side < Math.max(size.width, size.height) || small.bytes.length < bytes.length;
      if (isSmaller && base64Length(small.bytes.length) <= limits.bytes) return small;
    }
    return null;
  } finally {
    image.free();
  }
}

/** The picture as sixels, upright, at most `most` in size. Null if it cannot be decoded. */
export function sixelImage(bytes: Uint8Array, most: ImageSize): string | null {
  const size = imageSize(bytes);
  if (size !== null && size.width * size.height > MOST_PIXELS) return null;
  const image = decoded(bytes);
  if (image === null) return null;
  try {
    const orientation = jpegOrientation(bytes);
    const [wide, high] = orientation >= 5 ? [most.height, most.width] : [most.width, most.height];
    const factor = Math.min(1, wide / image.get_width(), high / image.get_height());
    return sixelOf(pixelsOf(image, factor, orientation));
  } finally {
    image.free();
  }
}

/** The decoder fails with a WebAssembly trap. */
function decoded(bytes: Uint8Array): PhotonImage | null {
  try {
    return PhotonImage.new_from_byteslice(bytes);
  } catch {
    return null;
  }
}

function scaled(image: PhotonImage, side: number, orientation: number): SmallImage {
  const factor = Math.min(1, side / Math.max(image.get_width(), image.get_height()));
  return encoded(pixelsOf(image, factor, orientation));
}

function pixelsOf(image: PhotonImage, factor: number, orientation: number): Pixels {
  const sized = (side: number): number => Math.max(1, Math.round(side * factor));
  const target = { width: sized(image.get_width()), height: sized(image.get_height()) };
  const small = resize(image, target.width, target.height, SamplingFilter.Lanczos3);
  try {
    return upright(small.get_raw_pixels(), target, orientation);
  } finally {
    small.free();
  }
}

function encoded({ data, width, height }: Pixels): SmallImage {
  const image = new PhotonImage(data, width, height);
  try {
    const isOpaque = data.every((value, at) => at % 4 !== 3 || value === 255);
    return isOpaque
      ? { mime: 'image/jpeg', width, height, bytes: image.get_bytes_jpeg(QUALITY) }
      : { mime: 'image/png', width, height, bytes: image.get_bytes() };
  } finally {
    image.free();
  }
}

/** The pixels rotated upright. */
function upright(data: Uint8Array, { width, height }: ImageSize, orientation: number): Pixels {
  if (orientation === 1) return { data, width, height };
  const liesOnSide = orientation >= 5;
  const [wide, high] = liesOnSide ? [height, width] : [width, height];
  const isMirroredX = [2, 3, 7, 8].includes(orientation);
  const isMirroredY = [3, 4, 6, 7].includes(orientation);
  const from = new Uint32Array(data.buffer, data.byteOffset, width * height);
  const to = new Uint32Array(width * height);
  for (let y = 0; y < high; y += 1) {
    for (let x = 0; x < wide; x += 1) {
      const [column, row] = liesOnSide ? [y, x] : [x, y];
      const sourceX = isMirroredX ? width - 1 - column : column;
      const sourceY = isMirroredY ? height - 1 - row : row;
      to[y * wide + x] = from[sourceY * width + sourceX] ?? 0;
    }
  }
  return { data: new Uint8Array(to.buffer), width: wide, height: high };
}

/**
 * The orientation of a JPEG from its Exif: 1 to 8, as in the TIFF specification (1: upright; 5 to 8: on its side). 1 if
 * missing or invalid.
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

/** A picture as pixels: red, green, blue, alpha. */
export interface Pixels extends ImageSize {
  readonly data: Uint8Array;
}

/** Six shades each of red, green and blue: 216 colours, which every terminal with sixel supports. */
const SHADES = 6;
const SHADE_STEP = 255 / (SHADES - 1);

/** Pixels with a lower alpha are not drawn. */
const OPAQUE = 128;

/** The rows of pixels in one row of sixels. */
const BAND = 6;

/** A picture in sixel format (DEC STD 070). */
export function sixelOf(pixels: Pixels): string {
  const { width, height } = pixels;
  const colours = dithered(pixels);
  const used = [...new Set(colours)].filter((colour) => colour >= 0).sort((one, other) => one - other);
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND) bands.push(bandOf(colours, width, top, Math.min(BAND, height - top)));
  return `\x1bP0;1;0q"1;1;${width};${height}${used.map(defined).join('')}${bands.join('-')}\x1b\\`;
}

/** The definition of a colour, in hundredths. */
function defined(colour: number): string {
  const shade = (part: number): number => Math.round(((part % SHADES) / (SHADES - 1)) * 100);
  return `#${colour};2;${shade(Math.floor(colour / SHADES / SHADES))};${shade(Math.floor(colour / SHADES))};${shade(colour)}`;
}

/**
 * The nearest colour of each pixel, -1 for none. The error is spread to the following neighbours (Floyd and Steinberg).
 */
function dithered({ data, width, height }: Pixels): Int16Array {
  const colours = new Int16Array(width * height);
  const rest = Float32Array.from(data);
  for (let at = 0; at < colours.length; at += 1) {
    colours[at] = (data[at * 4 + 3] ?? 0) < OPAQUE ? -1 : nearest(rest, at, width);
  }
  return colours;
}

function nearest(rest: Float32Array, at: number, width: number): number {
  let colour = 0;
  for (let part = 0; part < 3; part += 1) {
    const wanted = Math.min(255, Math.max(0, rest[at * 4 + part] ?? 0));
    const shade = Math.round(wanted / SHADE_STEP);
    colour = colour * SHADES + shade;
    const lost = wanted - shade * SHADE_STEP;
    const isLast = at % width === width - 1;
    const give = (other: number, share: number): void => {
      const index = other * 4 + part;
      if (index < rest.length) rest[index] = (rest[index] ?? 0) + (lost * share) / 16;
    };
    if (!isLast) give(at + 1, 7);
    if (at % width > 0) give(at + width - 1, 3);
    give(at + width, 5);
    if (!isLast) give(at + width + 1, 1);
  }
  return colour;
}

/** Up to six rows of pixels. Each colour is drawn from the left margin. */
function bandOf(colours: Int16Array, width: number, top: number, rows: number): string {
  const lines = new Map<number, Uint8Array>();
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const colour = colours[(top + row) * width + column] ?? -1;
      if (colour < 0) continue;
      const line = lines.get(colour) ?? new Uint8Array(width);
      lines.set(colour, line);
      line[column] = (line[column] ?? 0) | (1 << row);
    }
  }
  return [...lines].map(([colour, line]) => `#${colour}${shortened(line)}`).join('$');
}

/** The sixels of a line, run-length encoded, without trailing empty ones. */
function shortened(line: Uint8Array): string {
  let text = '';
  let end = line.length;
  while (end > 0 && line[end - 1] === 0) end -= 1;
  for (let at = 0; at < end; ) {
    let next = at + 1;
    while (next < end && line[next] === line[at]) next += 1;
    const sixel = String.fromCharCode(63 + (line[at] ?? 0));
    text += next - at > 3 ? `!${next - at}${sixel}` : sixel.repeat(next - at);
    at = next;
  }
  return text;
}
