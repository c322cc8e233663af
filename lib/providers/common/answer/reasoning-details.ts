import { isJsonObject, type JsonValue } from '../../../chat/json.js';

/** Joins pieces of OpenRouter's `reasoning_details`: those with the same index and type become one entry. */
export function mergeDetails(known: readonly JsonValue[], pieces: readonly JsonValue[]): JsonValue[] {
  const merged = [...known];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (isJsonObject(last) && isJsonObject(piece) && last.index === piece.index && last.type === piece.type) {
      const given = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null));
      merged[merged.length - 1] = {
        ...last,
        ...given,
        ...joined('text', last, piece),
        ...joined('summary', last, piece),
      };
    } else {
      merged.push(piece);
    }
  }
  return merged;
}

function joined(field: string, last: { readonly [key: string]: unknown }, piece: { readonly [key: string]: unknown }) {
  const [before, after] = [last[field], piece[field]];
  return typeof before === 'string' && typeof after === 'string' ? { [field]: before + after } : {};
}
