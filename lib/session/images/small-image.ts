import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import { type ImageSize, imageSize } from '../../chat/media.js';
import type { ImageLimits } from '../../chat/model.js';
import { base64Length, type SmallImage } from './image-limits.js';
import { jpegOrientation } from './jpeg-orientation.js';
import { type Pixels, sixelOf } from './sixel.js';

/** Decoding a picture with more pixels would take more than a gigabyte. */
const MOST_PIXELS = 100_000_000;
const QUALITY = 85;
/** The factor by which a result that is still too large is scaled again. */
const STEP = 0.75;
const LEAST_SIDE = 64;

/**
 * The picture in the size that the vendor's models use, within its limits: JPEG, or PNG if it has transparency. Upright, as a JPEG's Exif
 * says, and the first frame of several. The same bytes for the same picture. Null if it cannot be decoded, or does not get smaller.
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
