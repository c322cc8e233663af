import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packSpots, unpackIds, unpackSpot } from '../../../lib/recall/disk/pages.js';

describe('packed spots', () => {
  it('are found one by one, in any group', () => {
    const step = fc.record({ id: fc.integer({ min: 1, max: 400 }), place: fc.integer({ min: 2, max: 100_000 }) });
    const first = fc.integer({ min: 0, max: 2 ** 40 });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 150, size: 'max' }), first, (steps, start) => {
        let [id, place] = [start, 0];
        const spots = steps.map((one) => {
          id += one.id;
          place += one.place;
          return { id, place };
        });
        const bytes = packSpots(spots);
        expect(spots.map((_, number) => unpackSpot(bytes, number))).toEqual(spots);
        expect(unpackIds(bytes)).toEqual(spots.map((spot) => spot.id));
      }),
    );
  });
});
