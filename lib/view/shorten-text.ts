/** Head and tail of a text of more than `limit` characters, with a line between them that says how much is missing. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = wholeStart(text, Math.ceil(limit * 0.7));
  const tail = wholeEnd(text, limit - Math.ceil(limit * 0.7));
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}

/** The first characters of a text. Never half a surrogate pair, which is no character: vendors answer 400 to it. */
export function wholeStart(text: string, length: number): string {
  const end = isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}

function wholeEnd(text: string, length: number): string {
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
