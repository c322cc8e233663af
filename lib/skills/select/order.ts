/**
 * Orders the skills of a request so that it begins as the request before did: those that stay keep their places up to the first gap,
 * for a provider's prompt cache holds as far as two requests agree. Behind the gap nothing can be saved any more,
 * so the rest comes in the order it was given: the most likely to stay first.
 */
export function order(wanted: readonly string[], before: readonly string[]): readonly string[] {
  const gap = before.findIndex((name) => !wanted.includes(name));
  const kept = gap === -1 ? before : before.slice(0, gap);
  return [...kept, ...wanted.filter((name) => !kept.includes(name))];
}
