/** What the terms of a mask weigh together. */
export type Weigh = (mask: number) => number;

/** Sums by byte: a long history asks for a million masks. */
export function weigher(rarities: readonly number[]): Weigh {
  const sums = Array.from({ length: Math.max(1, Math.ceil(rarities.length / 8)) }, (_, byte) =>
    Float32Array.from({ length: 256 }, (_, bits) => {
      let sum = 0;
      for (let bit = 0; bit < 8; bit += 1) if ((bits & (1 << bit)) !== 0) sum += rarities[8 * byte + bit] ?? 0;
      return sum;
    }),
  );
  const [first, second, third, fourth] = sums;
  if (second === undefined) return (mask) => first?.[mask & 255] ?? 0;
  if (third === undefined) return (mask) => (first?.[mask & 255] ?? 0) + (second[mask >>> 8] ?? 0);
  return (mask) =>
    (first?.[mask & 255] ?? 0) +
    (second[(mask >>> 8) & 255] ?? 0) +
    (third[(mask >>> 16) & 255] ?? 0) +
    (fourth?.[mask >>> 24] ?? 0);
}
