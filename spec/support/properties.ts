import fc from 'fast-check';

const { HI_SEED = '20261122' } = process.env;

// The same cases in every run, so that a commit that was green stays green; HI_SEED=random looks for new ones, and a failure names its seed.
fc.configureGlobal(HI_SEED === 'random' ? {} : { seed: Number(HI_SEED) });

export default fc;
