import { describe, expect, it } from '@jest/globals';
import { tooLargeImages } from '../../../lib/chat/media.js';
import type { ImageLimits } from '../../../lib/chat/model.js';
import { png } from '../../support/pictures.js';
import { chatRequest } from '../../support/providers.js';

const LIMITS: ImageLimits = { bytes: 400_000, request: 2_000_000, used: 10 };

/** The names of the pictures that are too large, of some that are sent in one message each. */
function tooLarge(
  files: Readonly<Record<string, Buffer>>,
  limits: Partial<ImageLimits> = {},
  role: 'user' | 'assistant' = 'user',
) {
  const names = Object.keys(files);
  const request = chatRequest({
    messages: names.map((name) => ({
      role,
      content: [
        name.endsWith('.pdf')
          ? { type: 'document', mime: 'application/pdf', sha256: name, bytes: 1, name }
          : { type: 'image', mime: 'image/png', sha256: name, bytes: 1, name },
      ],
    })),
    attachments: new Map(Object.entries(files)),
  });
  return tooLargeImages(request, { ...LIMITS, ...limits }).map(({ name }) => name);
}

describe('a picture that the vendor would refuse', () => {
  it('has more bytes in base64 than allowed', () => {
    expect(tooLarge({ a: Buffer.alloc(300_000), b: Buffer.alloc(300_001) })).toEqual(['b']);
  });

  it('has a side that is too long, if there is a limit', () => {
    const files = { wide: png(31, 2), high: png(2, 31), fine: png(30, 30), unknown: Buffer.from('HEIC') };
    expect(tooLarge(files)).toEqual([]);
    expect(tooLarge(files, { side: 30 })).toEqual(['wide', 'high']);
  });

  it('is one of many, each of which must be smaller', () => {
    const many = { count: 2, side: 20 };
    expect(tooLarge({ a: png(21), b: png(20) }, { side: 30, many })).toEqual([]);
    expect(tooLarge({ a: png(21), b: png(20), c: png(1) }, { side: 30, many })).toEqual(['a']);
  });

  it('is among files that are too large together; small ones stay', () => {
    const files = { a: Buffer.alloc(290_000), b: Buffer.alloc(200_000), 'c.pdf': Buffer.alloc(1_000_000) };
    expect(tooLarge(files)).toEqual([]);
    expect(tooLarge({ ...files, 'd.pdf': Buffer.alloc(20_000) })).toEqual(['a']);
  });

  it('is not one that the model drew, or whose bytes are gone', () => {
    expect(tooLarge({ a: Buffer.alloc(900_000) }, {}, 'assistant')).toEqual([]);
    expect(tooLarge({})).toEqual([]);
  });
});
