/** How far a character as the reader sees it (letter and its marks, joined emoji, flag) may reach, in UTF-16 units; what is longer counts as several. */
const REACH = 64;

let segmenter: Intl.Segmenter | null = null;

/** Where the character that begins at `offset` ends. */
export function nextGrapheme(text: string, offset: number): number {
  if (offset >= text.length) return text.length;
  if (text.startsWith('\r\n', offset)) return offset + 2;
  if (isAscii(text, offset) && isAscii(text, offset + 1)) return offset + 1;
  const [first] = segments(text.slice(offset, offset + REACH));
  return offset + (first?.segment.length ?? 1);
}

/** Where the character that ends at `offset` begins. */
export function previousGrapheme(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (text.startsWith('\r\n', offset - 2)) return offset - 2;
  if (isAscii(text, offset - 1)) return offset - 1;
  const start = Math.max(0, offset - REACH);
  const window = text.slice(start, offset);
  const last = segments(window).containing(window.length - 1);
  return start + (last?.index ?? window.length - 1);
}

/** The characters of a text as the reader sees them. */
export function graphemes(text: string): Iterable<Intl.SegmentData> {
  return segments(text);
}

/** Loading the rules takes a few milliseconds, so it waits for the first text that needs them. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** True past the end too: nothing there can belong to the character before. */
const isAscii = (text: string, offset: number): boolean => offset >= text.length || text.charCodeAt(offset) < 0x80;
