/** One line of the report: a measured value and, if there is a promise, its maximum or minimum. */
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
  /** The whole section as text, if it has another form than a table of the rows. */
  readonly text?: string;
}

/** The median; the higher of the two middle ones for an even count. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A number with its significant digits. */
export function rounded(value: number): number {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits));
}
