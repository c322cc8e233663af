import { describe, expect, it } from '@jest/globals';
import { sixelOf } from '../../../lib/session/images/small-image.js';
import fc from '../../support/properties.js';

type Pixel = readonly [red: number, green: number, blue: number, opaque: number];

const EMPTY: Pixel = [0, 0, 0, 0];

/** What a terminal draws: the pixels of a picture in sixels. */
function drawn(text: string): readonly Pixel[] {
  const head = /^\x1bP0;1;0q"1;1;(\d+);(\d+)/.exec(text);
  const [width, height] = [Number(head?.[1]), Number(head?.[2])];
  const pixels: Pixel[] = Array.from({ length: width * height }, () => EMPTY);
  const colours = new Map<string, Pixel>();
  let [column, top, colour] = [0, 0, EMPTY];
  const body = text.slice(head?.[0].length, -2);
  const part = /#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])/g;
  for (const [, defined = '', r, g, b, chosen, times, repeated, single, move] of body.matchAll(part)) {
    const hundredths = (value: string | undefined): number => Math.round((Number(value) * 255) / 100);
    if (defined !== '') colours.set(defined, [hundredths(r), hundredths(g), hundredths(b), 255]);
    else if (chosen !== undefined) colour = colours.get(chosen) ?? EMPTY;
    else if (move !== undefined) [column, top] = [0, move === '-' ? top + 6 : top];
    else {
      const bits = (repeated ?? single ?? '?').charCodeAt(0) - 63;
      for (let count = Number(times ?? 1); count > 0; count -= 1, column += 1) {
        for (let row = 0; row < 6; row += 1) if (bits & (1 << row)) pixels[(top + row) * width + column] = colour;
      }
    }
  }
  expect(pixels).toHaveLength(width * height);
  return pixels;
}

/** One of the colours that need no mixing, or nothing. */
const shade = fc.constantFrom(0, 51, 102, 153, 204, 255);
const pixel = fc.oneof(fc.tuple(shade, shade, shade, fc.constant(255)), fc.constant(EMPTY));

describe('a picture in sixels', () => {
  it('is the picture', () => {
    const pictures = fc
      .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }))
      .chain(([width, height]) =>
        fc.record({
          width: fc.constant(width),
          height: fc.constant(height),
          pixels: fc.array(pixel, { minLength: width * height, maxLength: width * height }),
        }),
      );
    fc.assert(
      fc.property(pictures, ({ width, height, pixels }) => {
        const data = Uint8Array.from(pixels.flat());
        expect(drawn(sixelOf({ data, width, height }))).toEqual(pixels);
      }),
    );
  });

  it('mixes two colours for one in between', () => {
    const data = Uint8Array.from({ length: 40 * 40 * 4 }, (_, at) => (at % 4 === 3 ? 255 : 128));
    const reds = drawn(sixelOf({ data, width: 40, height: 40 })).map(([red]) => red);
    expect(new Set(reds)).toEqual(new Set([102, 153]));
    expect(reds.reduce((sum, red) => sum + red) / reds.length).toBeCloseTo(128, -1);
  });

  it('encodes a run of one colour by its length', () => {
    const data = Uint8Array.from({ length: 500 * 6 * 4 }, () => 255);
    expect(sixelOf({ data, width: 500, height: 6 })).toBe('\x1bP0;1;0q"1;1;500;6#215;2;100;100;100#215!500~\x1b\\');
  });
});
