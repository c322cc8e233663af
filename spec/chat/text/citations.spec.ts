import { describe, expect, it } from '@jest/globals';
import { citedIn, citing, citingOnly, statementsOf, withoutLookalikes } from '../../../lib/chat/marked-text.js';
import fc from '../../support/properties.js';

const known = (id: number): boolean => id < 100;

describe('citations', () => {
  it('are ids in brackets, in every form that models write', () => {
    expect(citedIn('a [#1] b [#2 #3], c [#4, #5] d [#6,7; #8 & #9 and #10 – 11] e [#3]')).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
  });

  it('are not words in brackets, links, or ids without brackets', () => {
    expect(citedIn('[#fix] [12] #12 (#12) [#12](https://example.org) [#12 was merged] [ #12]')).toEqual([]);
  });

  it('are appended to a text', () => {
    expect(citing('The port is 8080', [12, 15])).toBe('The port is 8080 [#12 #15]');
    expect(citing('The port is 8080', [])).toBe('The port is 8080');
    expect(citing('The port is 8080')).toBe('The port is 8080');
  });

  it('lose the ids that do not exist, without leaving a gap', () => {
    expect(citingOnly('Uses pnpm [#12, #999]. Never npm [#888]. Tabs [#7]!', known)).toBe(
      'Uses pnpm [#12]. Never npm. Tabs [#7]!',
    );
    expect(citingOnly('[#999] Uses pnpm\n- [#888] Tabs', known)).toBe(' Uses pnpm\n- Tabs');
    expect(citingOnly('See [#999](https://example.org) and x[#999]', known)).toBe(
      'See [#999](https://example.org) and x',
    );
  });

  it('are told apart from brackets that somebody wrote', () => {
    const text = 'The fix of [#42, #43] is [#44](https://example.org), [#a].';
    expect(withoutLookalikes(text)).toBe('The fix of (#42, #43) is [#44](https://example.org), [#a].');
  });

  it('split a line into its statements', () => {
    expect(
      statementsOf('Decisions\nUses pnpm [#12]. The port is 8080 [#15 #16], the host kiwi.\n\n- tabs。 [#7]。更多'),
    ).toEqual([
      'Decisions',
      'Uses pnpm [#12].',
      'The port is 8080 [#15 #16],',
      'the host kiwi.',
      '- tabs。 [#7]。',
      '更多',
    ]);
  });

  it('change no other character of a text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('[#1]', ' [#2 #3].', '[#1', ']', '(', '\n'))),
        (parts) => {
          const text = parts.join('');
          const kept = citingOnly(text, () => true);
          expect(kept.replace(/\[#[^\]]*\]/g, '')).toBe(text.replace(/\[#[^\]]*\]/g, ''));
          expect(citingOnly(kept, () => true)).toBe(kept);
          expect(citedIn(citingOnly(text, () => false))).toEqual([]);
          expect(statementsOf(kept).flatMap(citedIn)).toEqual(expect.arrayContaining([...citedIn(kept)]));
        },
      ),
      { numRuns: 300 },
    );
  });
});
