import { isJsonObject, type JsonValue } from '../../../chat/json.js';

/** OpenRouter's `reasoning_details` put together from their pieces: those of one index and type are one entry whose words are joined. */
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
