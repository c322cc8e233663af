import fc from 'fast-check';

const { HI_SEED = '20261122', HI_ROUNDS = '1', HI_MUTATE } = process.env;
const isMutated = HI_MUTATE !== undefined;

// The same cases in every run, so that a commit that was green stays green; HI_SEED=random looks for new ones, and a
// failure names its seed.
fc.configureGlobal({ ...(HI_SEED !== 'random' && { seed: Number(HI_SEED) }), endOnFailure: isMutated });

/**
 * How many cases to try, HI_ROUNDS times as many. `npm run mutate` repeats them for each mutant, so it tries fewer and
 * does not look for the smallest one that fails.
 */
export const cases = (count: number): number => (isMutated ? Math.min(count, 50) : count * Number(HI_ROUNDS));

export default fc;
