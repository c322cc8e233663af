/** How deep JSON from outside may be nested. Vendors refuse little more, and what walks through a value needs stack for every level. */
export const MOST_LEVELS = 100;

/** What stands in the place of a value that is nested too deeply. */
export const TOO_DEEP = `(nested deeper than ${MOST_LEVELS} levels)`;

/** True when a value has more than so many levels of arrays and objects. Needs no more stack than that. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((inner) => isTooDeep(inner, levels - 1));
  return Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

/** A value as JSON; what is nested too deeply, which would overflow the stack, as words that say so and are no JSON. */
export function jsonText(value: unknown): string {
  return isTooDeep(value) ? TOO_DEEP : (JSON.stringify(value) ?? '');
}
