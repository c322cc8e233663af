import { type Entry, isMessage } from '../../chat/entry.js';
import { storedText } from '../../chat/stored-text.js';
import { markdownOf, transcriptOf } from '../../chat/transcript.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { BOLD, CYAN, combine, DIM, INVERSE, paint } from '../../screen/text/styled-text.js';
import { shownJson, shownText } from '../base/shown.js';

/** In which form entries are printed. */
export interface PrintOptions {
  readonly json?: boolean;
  readonly md?: boolean;
  readonly follow?: boolean;
  readonly find?: string;
}

/** Who reads what is printed. */
export interface Reader {
  readonly stdout: OutputStream;
  readonly hasColour: boolean;
  /** Names the days as at this moment; null for dates. */
  readonly now: Date | null;
}

/** The entries as they are printed. What is of an `undone` turn says so. */
export async function* printed(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { json, md, follow, find }: PrintOptions,
  { stdout, hasColour, now }: Reader,
  undone: ReadonlySet<number> = new Set(),
): AsyncGenerator<string> {
  const mark = hasColour && find !== undefined ? await markerOf(find) : plain;
  let first = true;
  for await (const entry of entries) {
    if (json && follow) yield `${shownJson(storedText(entry), stdout)}\n`;
    else if (json) yield `${first ? '[\n' : ',\n'}${shownJson(storedText(entry), stdout)}`;
    else if (md) yield shownText(markdownOf(entry, undone), stdout);
    else {
      const text = shownText(transcriptOf(entry, now, undone), stdout);
      yield `${first ? '' : '\n'}${hasColour ? coloured(entry, text, mark) : text}`;
    }
    first = false;
  }
  if (json && !follow) yield first ? '[]\n' : '\n]\n';
}

type Mark = (text: string) => string;

const plain: Mark = (text) => text;

/** What makes the words stand out that were looked for. */
async function markerOf(query: string): Promise<Mark> {
  const { markedText } = await import('../../recall/show/passage.js');
  // A pager shows each row by itself.
  const standOut = (word: string): string => word.replaceAll(/.+/g, (row) => paint(row, combine(BOLD, INVERSE)));
  return (text) => markedText(text, query, standOut);
}

/** The transcript of an entry with its heading, or the whole line of a mark, set apart. */
function coloured(entry: Entry, text: string, mark: Mark): string {
  if (!isMessage(entry)) return paint(text, DIM);
  if (entry.role === 'tool') return mark(text);
  const end = text.indexOf('\n');
  return paint(text.slice(0, end), entry.role === 'user' ? combine(BOLD, CYAN) : CYAN) + mark(text.slice(end));
}
