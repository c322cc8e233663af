import { detect } from 'chardet';

/** The encoding that the frequencies of letters speak for. Null if none does. */
export function likelyEncoding(bytes: Uint8Array): string | null {
  return detect(bytes);
}
