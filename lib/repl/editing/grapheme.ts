/** The longest grapheme (letter with its marks, joined emoji, flag) in UTF-16 units. Anything longer counts as several. */
const MAX_LENGTH = 64;

let segmenter: Intl.Segmenter | null = null;

/** The end of the grapheme that starts at `offset`. */
export function nextGrapheme(text: string, offset: number): number {
  if (offset >= text.length) return text.length;
  if (text.startsWith('\r\n', offset)) return offset + 2;
  if (isAscii(text, offset) && isAscii(text, offset + 1)) return offset + 1;
  const [first] = segments(text.slice(offset, offset + MAX_LENGTH));
  return offset + (first?.segment.length ?? 1);
}

/** The start of the grapheme that ends at `offset`. */
export function previousGrapheme(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (text.startsWith('\r\n', offset - 2)) return offset - 2;
  if (isAscii(text, offset - 1)) return offset - 1;
  const start = Math.max(0, offset - MAX_LENGTH);
  const window = text.slice(start, offset);
  const last = segments(window).containing(window.length - 1);
  return start + (last?.index ?? window.length - 1);
}

/** The user-perceived characters of a text. */
export function graphemes(text: string): Iterable<Intl.SegmentData> {
  return segments(text);
}

/** Creating the segmenter takes a few milliseconds, so it is done for the first text that is not ASCII. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Also true past the end, where nothing can extend the previous character. */
const isAscii = (text: string, offset: number): boolean => offset >= text.length || text.charCodeAt(offset) < 0x80;
