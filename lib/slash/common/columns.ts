/** Formats rows as two aligned columns. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = rows.reduce((widest, [left]) => Math.max(widest, left.length), 0);
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n');
}
