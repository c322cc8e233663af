import { describe, expect, it } from '@jest/globals';
import { PhotonImage } from '@silvia-odwyer/photon-node';
import { imageSize } from '../../../lib/chat/media.js';
import { smallImage } from '../../../lib/session/images/small-image.js';
import { NOISE, png } from '../../support/pictures.js';

const LIMITS = { bytes: 1_000_000, request: 2_000_000, used: 100 };

/** The colours of four places near the corners: from the left, above first. */
function corners(bytes: Uint8Array): readonly string[] {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [width, height, data] = [image.get_width(), image.get_height(), image.get_raw_pixels()];
  const nearest = (x: number, y: number): string => {
    const at = 4 * (Math.floor(y * height) * width + Math.floor(x * width));
    const [red = 0, green = 0, blue = 0] = data.subarray(at);
    if (red > 200) return green > 200 ? 'white' : 'red';
    return green > 200 ? 'green' : blue > 200 ? 'blue' : 'black';
  };
  return [nearest(0.25, 0.25), nearest(0.75, 0.25), nearest(0.25, 0.75), nearest(0.75, 0.75)];
}

/** Red, green, blue and white, a quarter each. */
const quarters = (width: number, height: number) => (x: number, y: number) => {
  const [right, below] = [x >= width / 2, y >= height / 2];
  if (below) return right ? [255, 255, 255] : [0, 0, 255];
  return right ? [0, 255, 0] : [255, 0, 0];
};

/** The JPEG with an Exif that says how it is turned. */
function turned(jpeg: Uint8Array, orientation: number, order: 'II' | 'MM'): Buffer {
  const [little, big] = [
    `49492a0008000000010012010300010000000${orientation}`,
    `4d4d002a0000000800010112000300000001000${orientation}`,
  ];
  const tiff = `${order === 'II' ? little : big}0000000000000000`;
  const body = Buffer.concat([Buffer.from('Exif\0\0'), Buffer.from(tiff, 'hex')]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length + 2);
  return Buffer.concat([Buffer.from('ffd8ffe1', 'hex'), length, body, jpeg.subarray(2)]);
}

function jpeg(width: number, height: number): Uint8Array {
  return PhotonImage.new_from_byteslice(png(width, height, quarters(width, height))).get_bytes_jpeg(95);
}

describe('a picture made smaller', () => {
  it('is a JPEG with the longest useful side, and its proportions', () => {
    const small = smallImage(png(400, 300, quarters(400, 300)), LIMITS);
    expect(small).toMatchObject({ mime: 'image/jpeg', width: 100, height: 75 });
    expect(imageSize(small?.bytes ?? Buffer.alloc(0))).toEqual({ width: 100, height: 75 });
    expect(corners(small?.bytes ?? Buffer.alloc(0))).toEqual(['red', 'green', 'blue', 'white']);
  });

  it('is a PNG if some of it is transparent', () => {
    const paint = (x: number) => [255, 0, 0, x < 200 ? 0 : 255];
    const small = smallImage(png(400, 300, paint), LIMITS);
    expect(small).toMatchObject({ mime: 'image/png', width: 100, height: 75 });
    expect(imageSize(small?.bytes ?? Buffer.alloc(0))).toEqual({ width: 100, height: 75 });
  });

  it('is the same each time', () => {
    const picture = png(300, 200, NOISE);
    expect(smallImage(picture, LIMITS)).toEqual(smallImage(picture, LIMITS));
  });

  it('is reduced further until it fits', () => {
    const limits = { ...LIMITS, used: 300, bytes: 20_000 };
    const small = smallImage(png(300, 300, NOISE), limits);
    expect(small?.width).toBeLessThan(300);
    expect(small?.bytes.length).toBeLessThanOrEqual(15_000);
  });

  it('keeps its size if only its bytes are too many', () => {
    expect(smallImage(png(90, 90, NOISE), { ...LIMITS, bytes: 25_000 })).toMatchObject({ width: 90, height: 90 });
  });

  it.each([
    ['WebP', (image: PhotonImage) => image.get_bytes_webp()],
    ['JPEG', (image: PhotonImage) => image.get_bytes_jpeg(90)],
  ])('may have been a %s', (_format, bytesOf) => {
    const image = PhotonImage.new_from_byteslice(png(200, 200, quarters(200, 200)));
    const small = smallImage(bytesOf(image), LIMITS);
    expect(small).toMatchObject({ width: 100, height: 100 });
    expect(corners(small?.bytes ?? Buffer.alloc(0))).toEqual(['red', 'green', 'blue', 'white']);
  });

  it('shows the first frame of a GIF', () => {
    // 200 × 200 with two colours, and frames of the one pixel above left.
    const head = '474946383961c800c800800000ff00000000ff';
    const frame = (colour: 'first' | 'second') => `2c00000000010001000002024${colour === 'first' ? '4' : 'c'}0100`;
    const gif = (...frames: readonly string[]) => smallImage(Buffer.from(`${head}${frames.join('')}3b`, 'hex'), LIMITS);
    const small = gif(frame('first'), frame('second'));
    expect(small).toMatchObject({ mime: 'image/png', width: 100, height: 100 });
    expect(small).toEqual(gif(frame('first')));
    expect(small).not.toEqual(gif(frame('second')));
  });

  it.each([
    [1, ['red', 'green', 'blue', 'white']],
    [2, ['green', 'red', 'white', 'blue']],
    [3, ['white', 'blue', 'green', 'red']],
    [4, ['blue', 'white', 'red', 'green']],
    [5, ['red', 'blue', 'green', 'white']],
    [6, ['blue', 'red', 'white', 'green']],
    [7, ['white', 'green', 'blue', 'red']],
    [8, ['green', 'white', 'red', 'blue']],
  ])('is upright if the camera was turned: %i', (orientation, seen) => {
    for (const order of ['II', 'MM'] as const) {
      const small = smallImage(turned(jpeg(400, 200), orientation, order), LIMITS);
      const [width, height] = orientation >= 5 ? [50, 100] : [100, 50];
      expect(small).toMatchObject({ mime: 'image/jpeg', width, height });
      expect(corners(small?.bytes ?? Buffer.alloc(0))).toEqual(seen);
    }
  });

  it.each([
    ['cut off', png(400, 300, NOISE).subarray(0, 5000)],
    ['of a header alone', png(400, 300).subarray(0, 33)],
    ['of a format that is not read', Buffer.from('\0\0\0\x18ftypheic and more', 'latin1')],
    ['too large to be decoded', png(1, 1).fill(0x7f, 16, 24)],
  ])('does not exist for one that is %s', (_what, bytes) => {
    expect(smallImage(bytes, LIMITS)).toBeNull();
    expect(smallImage(png(400, 300), LIMITS)).toMatchObject({ width: 100 });
  });
});
