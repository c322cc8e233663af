/** The maximum nesting of JSON from outside. Vendors accept little more, and recursive code needs stack for every level. */
export const MAX_LEVELS = 100;

/** Replaces a value that is nested too deeply. */
export const TOO_DEEP = `(nested deeper than ${MAX_LEVELS} levels)`;

/** True when a value has more than `levels` levels of arrays and objects. Uses no more stack than that. */
export function isTooDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Every start calls this for every entry that it loads, so it allocates neither lists nor closures.
  for (const name in value) {
    const inner: unknown = Reflect.get(value, name);
    if (typeof inner === 'object' && isTooDeep(inner, levels - 1)) return true;
  }
  return false;
}

/** A value as JSON; `TOO_DEEP`, which is not JSON, for one whose nesting would overflow the stack. */
export function jsonText(value: unknown): string {
  return isTooDeep(value) ? TOO_DEEP : (JSON.stringify(value) ?? '');
}
