/** One line of the report: what was measured, and the most or the least it may be where there is a promise. */
export interface Row {
  readonly what: string;
  readonly value: number;
  /** `×` is the ratio to `node -e 0` in the same round unless `what` says otherwise. */
  readonly unit: string;
  readonly limit?: number;
  readonly least?: number;
}

/** A named group of rows. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
  /** The table, where it has a form of its own. */
  readonly text?: string;
}

/** The middle one of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A number with as many digits as say something. */
export function rounded(value: number): number {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits));
}
