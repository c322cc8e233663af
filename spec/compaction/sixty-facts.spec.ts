import { describe, expect, it } from '@jest/globals';
import { sixtyFacts } from '../support/sixty-facts.js';

describe('sixty facts in a conversation of 600 turns', () => {
  const outcomes = { summary: sixtyFacts(), replace: sixtyFacts({ strategy: 'replace' }) };

  for (const strategy of ['summary', 'replace'] as const) {
    it(`are all kept with ${strategy}, though the summariser forgets a tenth of its prose every time`, async () => {
      const { facts, passes, broken } = await outcomes[strategy];
      expect(facts).toBe(60);
      expect(passes).toBeGreaterThan(10);
      expect(broken).toBe(0);
    });
  }

  it('would be lost if only prose carried them', async () => {
    expect((await sixtyFacts({}, true)).facts).toBeLessThan(40);
  });

  it('cost little: less than a tenth of the prompt tokens cannot be cached', async () => {
    const { uncached, fullness } = await outcomes.summary;
    expect(uncached).toBeLessThan(0.1);
    expect(fullness).toBeLessThan(0.8);
  });
});
