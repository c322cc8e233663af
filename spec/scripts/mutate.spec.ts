import { describe, expect, it } from '@jest/globals';
import { drawEvenly } from '../../scripts/mutate/draw.js';
import { scoreOf } from '../../scripts/mutate/score.js';
import { summaryOf } from '../../scripts/mutate/summary.js';

const items = Array.from({ length: 1000 }, (_, index) => index);

describe('a sample of mutants', () => {
  it('is spread over the whole list, in its order, each at most once', () => {
    const drawn = drawEvenly(items, 150, 7);
    expect(new Set(drawn).size).toBe(150);
    expect(drawn).toEqual([...drawn].sort((one, other) => one - other));
    drawn.forEach((item, index) => {
      expect(Math.abs(item - (index * 1000) / 150)).toBeLessThan(8);
    });
  });

  it('is the same for the same seed, and another for another', () => {
    expect(drawEvenly(items, 150, 7)).toEqual(drawEvenly(items, 150, 7));
    expect(drawEvenly(items, 150, 8)).not.toEqual(drawEvenly(items, 150, 7));
  });

  it('contains each with about the same probability', () => {
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 2000; seed += 1)
      for (const item of drawEvenly(items.slice(0, 10), 4, seed)) counts.set(item, (counts.get(item) ?? 0) + 1);
    for (const item of items.slice(0, 10)) expect(Math.abs((counts.get(item) ?? 0) - 800)).toBeLessThan(300);
  });

  it('is all of them if there are not more', () => {
    expect(drawEvenly(items, 1000, 7)).toBe(items);
    expect(drawEvenly([], 5, 7)).toEqual([]);
  });
});

describe('the score', () => {
  // Wilson's interval, as in the tables of Newcombe (1998).
  it.each([
    [81, 182, 30.8, 25.5, 36.6],
    [15, 133, 10.1, 6.2, 16.0],
    [0, 20, 0, 0, 16.1],
    [29, 0, 100, 88.3, 100],
  ])('of %d detected and %d undetected mutants has its interval', (detected, undetected, score, low, high) => {
    const found = scoreOf(detected, undetected);
    expect(found.score).toBeCloseTo(score, 1);
    expect(found.low).toBeCloseTo(low, 1);
    expect(found.high).toBeCloseTo(high, 1);
  });

  it('is unknown if nothing was run', () => {
    expect(scoreOf(0, 0)).toEqual({ score: Number.NaN, low: 0, high: 100 });
  });
});

describe('the summary', () => {
  const outcomes = ['Killed', 'Survived', 'Killed', 'Endless', 'NoCoverage', 'CompileError', 'Timeout', 'Killed'];

  it('of a stopped sample says how much of it was run, and how accurate the score is', () => {
    const { text, score } = summaryOf(outcomes, { drawn: 40, total: 900, seed: 7 });
    expect(score).toBeCloseTo(66.7, 1);
    expect(text).toBe(
      '8 of 40 drawn mutants of 900, seed 7: 3 killed, 1 endless, 1 survived, 1 not reached, 1 invalid, 1 too slow to tell\n' +
        'score 66.7 %, 95 % interval 30.0 to 90.3 %\n',
    );
  });

  it('of all mutants has no interval, unless it was stopped', () => {
    expect(summaryOf(outcomes, { drawn: 8, total: 8, seed: null }).text).toMatch(
      /^8 of 8 mutants: .*\nscore 66\.7 %\n$/,
    );
    expect(summaryOf(outcomes, { drawn: 9, total: 9, seed: null }).text).toContain('95 % interval');
  });
});
