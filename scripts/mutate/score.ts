/** A mutation score in percent, and the 95 % interval in which the score of all mutants lies when these are a sample of them. */
export interface Score {
  readonly score: number;
  readonly low: number;
  readonly high: number;
}

/** 95 % of a normal distribution lie within so many standard deviations. */
const Z = 1.96;

/** The share of detected mutants, with Wilson's interval, which holds also near 100 % and for small samples. */
export function scoreOf(detected: number, undetected: number): Score {
  const count = detected + undetected;
  if (count === 0) return { score: Number.NaN, low: 0, high: 100 };
  const share = detected / count;
  const scale = 1 + Z ** 2 / count;
  const middle = (share + Z ** 2 / (2 * count)) / scale;
  const reach = (Z / scale) * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2));
  return { score: 100 * share, low: 100 * (middle - reach), high: 100 * (middle + reach) };
}
