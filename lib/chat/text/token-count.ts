/** A number of tokens as it stands in a list of models: `8192`, `"8,192"`, `8192.0`, `"32.8k"`. Null for anything else. */
export function tokenCount(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.floor(value) : null;
  if (typeof value !== 'string') return null;
  const text = wholeNumbers(value.trim().toLowerCase());
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The lower-case text with its numbers as digits alone: without separators or a fraction, and multiplied where a letter says so. What has a letter or a hyphen before it is part of a name. */
export function wholeNumbers(text: string): string {
  return text
    .replaceAll(/(?<=\d)[,_](?=\d{3})/g, '')
    .replaceAll(/(?<![\w.-])(\d{1,9}(?:\.\d{1,9})?) ?([km])\b/g, (_all, count: string, unit: string) =>
      String(Math.floor(Number(count) * (unit === 'k' ? 1000 : 1_000_000))),
    )
    .replaceAll(/(?<![\w.-])(\d{1,3})\.(\d{3})(?!\w|\.\d)/g, '$1$2')
    .replaceAll(/(?<![\w.-])(\d{1,15})\.\d{1,9}(?!\w|\.\d)/g, '$1');
}
