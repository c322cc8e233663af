/**
 * Orders the skills so that the request shares the longest prefix with the previous one, because a provider's prompt cache covers the common
 * prefix of two requests: up to the first skill that is gone, the others keep their places. After that nothing is cached, so the rest follows
 * in the given order, the most likely to stay first.
 */
export function stableOrder(wanted: readonly string[], before: readonly string[]): readonly string[] {
  const gap = before.findIndex((name) => !wanted.includes(name));
  const kept = gap === -1 ? before : before.slice(0, gap);
  return [...kept, ...wanted.filter((name) => !kept.includes(name))];
}
