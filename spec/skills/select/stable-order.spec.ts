import { describe, expect, it } from '@jest/globals';
import { stableOrder } from '../../../lib/skills/select.js';
import fc from '../../support/properties.js';

const NAMES = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'));

describe('the order of skills', () => {
  it('keeps the places of old skills and appends new ones', () => {
    expect(stableOrder(['new', 'b', 'a'], ['a', 'b'])).toEqual(['a', 'b', 'new']);
  });

  it('is arbitrary after the first gap, where no cache is valid any more', () => {
    expect(stableOrder(['d', 'c', 'a'], ['a', 'b', 'c', 'd'])).toEqual(['a', 'd', 'c']);
  });

  it('contains every wanted skill once, and begins with all before the first gap', () => {
    fc.assert(
      fc.property(NAMES, NAMES, (wanted, before) => {
        const ordered = stableOrder(wanted, before);
        expect([...ordered].sort()).toEqual([...wanted].sort());
        const gap = before.findIndex((name) => !wanted.includes(name));
        const kept = gap === -1 ? before : before.slice(0, gap);
        expect(ordered.slice(0, kept.length)).toEqual(kept);
      }),
    );
  });
});
