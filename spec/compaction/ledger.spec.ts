import { describe, expect, it } from '@jest/globals';
import { mergeLedgers } from '../../lib/compaction/compress-block.js';
import { FACT_KINDS, type Fact } from '../../lib/view/block-state.js';
import fc from '../support/properties.js';

const fact = (text: string, kind: Fact['kind'] = 'fact'): Fact => ({ kind, text });
const NONE = { facts: [], forgotten: 0 };

describe('the ledger', () => {
  it('keeps old facts, drops outdated ones by number, and adds new ones', () => {
    const before = { facts: [fact('a'), fact('b'), fact('c')], forgotten: 1 };
    expect(mergeLedgers(before, [fact('d')], [2, 17], 1000)).toEqual({
      facts: [fact('a'), fact('c'), fact('d')],
      forgotten: 1,
    });
  });

  it('keeps a fact once, in its first place, with its newest kind and words', () => {
    const before = { facts: [fact('Ship the parser', 'open'), fact('b')], forgotten: 0 };
    expect(mergeLedgers(before, [fact('ship the  parser.', 'done')], [], 1000).facts).toEqual([
      fact('ship the parser.', 'done'),
      fact('b'),
    ]);
  });

  it('cites all messages that were named for a fact, at most the newest five', () => {
    const before = { facts: [{ ...fact('the port is 8080'), ids: [3, 4] }, fact('b')], forgotten: 0 };
    const { facts } = mergeLedgers(before, [{ ...fact('the port is 8080.'), ids: [4, 9] }, fact('c')], [], 1000);
    expect(facts).toEqual([{ ...fact('the port is 8080.'), ids: [3, 4, 9] }, fact('b'), fact('c')]);
    const more = mergeLedgers({ facts, forgotten: 0 }, [{ ...fact('the port is 8080'), ids: [10, 11, 12] }], [], 1000);
    expect(more.facts[0]?.ids).toEqual([4, 9, 10, 11, 12]);
  });

  it('turns each fact into one line of at most 240 characters', () => {
    const { facts } = mergeLedgers(NONE, [fact(`two\nlines ${'🙂'.repeat(300)}`), fact('  ')], [], 10_000);
    expect(facts).toHaveLength(1);
    expect(facts[0]?.text.startsWith('two lines 🙂')).toBe(true);
    expect([...(facts[0]?.text ?? '')]).toHaveLength(240);
  });

  it('drops the oldest facts of the least important kind first, and counts them', () => {
    const facts = [fact('a', 'pref'), fact('b', 'done'), fact('c', 'fact'), fact('d', 'done'), fact('e', 'decision')];
    expect(mergeLedgers({ facts, forgotten: 2 }, [], [], 40)).toEqual({
      facts: [fact('a', 'pref'), fact('c', 'fact'), fact('e', 'decision')],
      forgotten: 4,
    });
  });

  it('never loses a fact without saying so', () => {
    const facts = fc.array(fc.record({ kind: fc.constantFrom(...FACT_KINDS), text: fc.string({ minLength: 1 }) }));
    fc.assert(
      fc.property(facts, facts, fc.nat(2000), (first, second, room) => {
        const before = mergeLedgers(NONE, first, [], Number.POSITIVE_INFINITY);
        const all = mergeLedgers(before, second, [], Number.POSITIVE_INFINITY);
        const kept = mergeLedgers(before, second, [], room);
        expect(kept.facts.length + kept.forgotten).toBe(all.facts.length);
        expect(all.facts).toEqual(expect.arrayContaining([...kept.facts]));
      }),
      { numRuns: 200 },
    );
  });
});
