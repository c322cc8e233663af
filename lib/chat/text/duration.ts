const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration as the configuration writes it: `"90s"`, `"5m"`, `"1h30m"`. */
export const DURATION = '(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d))+';

/** The milliseconds of a duration such as `90s`, `1h30m` or `1.574s`, rounded up; null for any other text, and for zero. */
export function milliseconds(duration: string): number | null {
  let total = 0;
  for (const [, amount = '', unit = ''] of duration.matchAll(/([\d.]{1,20})(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNITS[unit] ?? 0);
  }
  return total > 0 ? Math.ceil(total) : null;
}
