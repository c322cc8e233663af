import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Decisions, decidedHere, waitingDecisions, withReceived } from '../../lib/share/decisions.js';
import type { DecisionItem } from '../../lib/share/items.js';

const subject = fc.constantFrom('AAAAAAAAAAA', 'BBBBBBBBBBA');
const item: fc.Arbitrary<Extract<DecisionItem, { kind: 'undo' }>> = fc.record({
  kind: fc.constant('undo' as const),
  turn: subject,
  v: fc.integer({ min: 1, max: 4 }),
  value: fc.boolean(),
});

const read = (items: readonly DecisionItem[], before: Decisions = {}): Decisions => items.reduce(withReceived, before);
const held = (decisions: Decisions): readonly string[] =>
  Object.entries(decisions)
    .map(([name, decision]) => `${name} ${decision.item.v} ${decision.item.value}`)
    .sort();

describe('the decisions of several machines', () => {
  it('are the same in whatever order, and however often, they were read', () => {
    fc.assert(
      fc.property(fc.array(item), fc.array(fc.nat()), (items, order) => {
        const shuffled = items
          .map((one, index) => [order[index] ?? 0, one] as const)
          .sort(([one], [other]) => one - other)
          .map(([, one]) => one);
        expect(held(read([...shuffled, ...items]))).toEqual(held(read(items)));
      }),
    );
  });

  it('are beaten by one that was made after they were known', () => {
    fc.assert(
      fc.property(fc.array(item), item, (items, made) => {
        const decided = decidedHere(read(items), made);
        const { item: kept } = decided[`undo ${made.turn}`] ?? {};
        expect(kept?.value).toBe(made.value);
        expect(held(read(items, decided))).toEqual(held(decided));
      }),
    );
  });

  it('wait until they are carried out, if they change what holds', () => {
    expect(waitingDecisions(read([{ kind: 'undo', turn: 'AAAAAAAAAAA', v: 1, value: true }]))).toHaveLength(1);
    expect(waitingDecisions(read([{ kind: 'undo', turn: 'AAAAAAAAAAA', v: 1, value: false }]))).toHaveLength(0);
  });
});
