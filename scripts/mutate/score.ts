/** A mutation score in percent, and the 95 % interval of the score of all mutants, of which these are a sample. */
export interface Score {
  readonly score: number;
  readonly low: number;
  readonly high: number;
}

/** The number of standard deviations that contain 95 % of a normal distribution. */
const Z = 1.96;

/** The share of detected mutants, with Wilson's interval, which is valid near 100 % and for small samples too. */
export function scoreOf(detected: number, undetected: number): Score {
  const count = detected + undetected;
  if (count === 0) return { score: Number.NaN, low: 0, high: 100 };
  const share = detected / count;
  const scale = 1 + Z ** 2 / count;
  const middle = (share + Z ** 2 / (2 * count)) / scale;
  const reach = (Z / scale) * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2));
  return { score: 100 * share, low: 100 * (middle - reach), high: 100 * (middle + reach) };
}
