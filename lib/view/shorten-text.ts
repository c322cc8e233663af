import { firstCharacters, lastCharacters } from '../chat/text.js';

/** The head and tail of a text longer than `limit` characters, with a line between them that says how much is missing. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = firstCharacters(text, Math.ceil(limit * 0.7));
  const tail = lastCharacters(text, limit - Math.ceil(limit * 0.7));
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}
