/** What the terms of a mask weigh together. */
export type Weigh = (mask: number) => number;

/** Sums by byte: a long history asks for a million masks. */
export function weigher(rarities: readonly number[]): Weigh {
  const [first, second, third, fourth] = [0, 8, 16, 24].map((shift) =>
    Float32Array.from({ length: 256 }, (_, bits) => {
      let sum = 0;
      for (let bit = 0; bit < 8; bit += 1) if ((bits & (1 << bit)) !== 0) sum += rarities[shift + bit] ?? 0;
      return sum;
    }),
  );
  return (mask) =>
    (first?.[mask & 255] ?? 0) +
    (second?.[(mask >>> 8) & 255] ?? 0) +
    (third?.[(mask >>> 16) & 255] ?? 0) +
    (fourth?.[mask >>> 24] ?? 0);
}
