import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { imageSize } from '../../../lib/chat/media.js';
import { png } from '../../support/pictures.js';

const bytes = (...hex: readonly string[]): Buffer => Buffer.from(hex.join(''), 'hex');
/** A segment of 70,000 bytes, as two that follow each other: what cameras put before the size. */
const EXIF = `ffe1ffff${'00'.repeat(0xfffd)}ffe11173${'00'.repeat(0x1171)}`;
const FRAME = '000b0802580320';

const HEADERS: readonly (readonly [what: string, header: Buffer, width: number, height: number])[] = [
  ['a PNG', png(3, 2).subarray(0, 33), 3, 2],
  ['a JPEG', bytes('ffd8ffe0000400', '00ffc0', FRAME), 800, 600],
  ['a progressive JPEG with a table before', bytes('ffd8ffc4000300', 'ffffc2', FRAME), 800, 600],
  ['a JPEG of a camera', bytes('ffd8', EXIF, 'ffc0', FRAME), 800, 600],
  ['a GIF', bytes('474946383961', '20035802', '000000'), 800, 600],
  ['a lossy WebP', bytes('524946460000000057454250', '56503820', '00000000', '000000', '9d012a', '20035802'), 800, 600],
  [
    'a lossless WebP',
    bytes('524946460000000057454250', '5650384c', '00000000', '2f', '1fc39500', '0000000000'),
    800,
    600,
  ],
  [
    'a WebP with more',
    bytes('524946460000000057454250', '56503858', '0a000000', '00000000', '1f0300', '570200'),
    800,
    600,
  ],
];

describe('the size of a picture', () => {
  it.each(HEADERS)('is read from %s', (_what, header, width, height) => {
    expect(imageSize(header)).toEqual({ width, height });
  });

  it.each(HEADERS)('is unknown for %s that is cut off in its header', (_what, header) => {
    for (let length = Math.max(0, header.length - 40); length < header.length; length += 1) {
      expect(imageSize(header.subarray(0, length))).toBeNull();
    }
  });

  it.each([
    ['a PNG of no width', png(0, 2)],
    ['a PNG without its first chunk', bytes('89504e470d0a1a0a', '00'.repeat(30))],
    [
      'a PNG of 4294967295 columns',
      bytes('89504e470d0a1a0a', '0000000d49484452', 'ffffffff', '00000001', '00'.repeat(9)),
    ],
    ['a JPEG of no height', bytes('ffd8ffc0', '000b08', '0000', '0320', '010111000000')],
    ['a JPEG that begins with its picture', bytes('ffd8ffda', '000c', '00'.repeat(20))],
    ['a JPEG that ends at once', bytes('ffd8ffd9', '00'.repeat(20))],
    ['a WebP of another kind', bytes('524946460000000057454250', '56503859', '00'.repeat(20))],
    ['text', Buffer.from('GIF is the name of a format of pictures.')],
  ])('is unknown for %s', (_what, header) => {
    expect(imageSize(header)).toBeNull();
  });

  it('is positive or unknown, whatever follows a signature', () => {
    const signatures = ['89504e470d0a1a0a0000000d49484452', 'ffd8ff', '474946383961', '524946460000000057454250565038'];
    fc.assert(
      fc.property(fc.constantFrom(...signatures), fc.uint8Array({ maxLength: 200 }), (signature, rest) => {
        const size = imageSize(Buffer.concat([bytes(signature), rest]));
        expect(size === null || (size.width > 0 && size.height > 0)).toBe(true);
      }),
    );
  });
});
