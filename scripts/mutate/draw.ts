/**
 * Draws `count` of these items: one at random from each of `count` sections of the list, whose lengths differ by at
 * most one. The same seed draws the same items. Draws all items if there are fewer.
 */
export function drawEvenly<Item>(items: readonly Item[], count: number, seed: number): readonly Item[] {
  if (items.length <= count) return items;
  const random = generator(seed);
  const step = items.length / count;
  return Array.from({ length: count }, (_, index) => {
    const stretch = items.slice(Math.floor(index * step), Math.floor((index + 1) * step));
    return stretch.slice(Math.floor(random() * stretch.length))[0];
  }).filter((item) => item !== undefined);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
