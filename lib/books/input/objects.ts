import { isJsonObject, isTooDeep, type JsonObject, MAX_LEVELS } from '../../chat/json.js';
import { sizeText } from '../../chat/text.js';
import { ArraySplitter } from '../../history/file/entries.js';
import { type Reading, type Sample, type SourceFile, Unreadable } from '../common/book-source.js';
import { SQLITE_MARK, tablesIn } from './sqlite.js';

/** The largest object that is read, in bytes: a conversation of a million words has a tenth of it. */
const LARGEST_OBJECT = 32_000_000;

/** How many bytes of a file decide what it is, where it is no JSON. */
const TEXT_SAMPLE = 64 * 1024;

/** An object of a file, and where it begins. */
export interface Placed {
  readonly value: JsonObject;
  /** `line 7` of a file of lines, else `byte 123`. */
  readonly place: string;
}

/** Called with what could not be read, and where. */
type Report = (place: string, what: string) => void;

/**
 * The objects of a file: those of one array, one on each line, or one alone. An object that is no JSON, is larger than
 * 32 MB or nested deeper than 100 levels is reported and left out, and so is what follows where the file ends too early
 * or cannot be read any further.
 */
export async function* objectsIn(file: SourceFile, reading: Pick<Reading, 'problem'>): AsyncGenerator<Placed> {
  const report: Report = (place, what) => reading.problem(file, place, what);
  const read = { bytes: 0 };
  try {
    yield* elementsOf(file, report, read);
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    report(`byte ${read.bytes}`, thrown.message);
  }
}

/** The same, but throws `Unreadable`; counts what was read. */
async function* elementsOf(file: SourceFile, report: Report, read: { bytes: number }): AsyncGenerator<Placed> {
  const pieces = asUtf8(file.bytes());
  const first = await pieces.next();
  if (first.done) return;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for (let piece: Buffer | null = first.value; piece !== null; ) {
      yield piece;
      read.bytes += piece.length;
      const next = await pieces.next();
      piece = next.done ? null : next.value;
    }
  };
  yield* isLines(first.value) ? inLines(counted(), report) : inArray(counted(), report);
}

/** What decides of which kind a file is; null for an empty or a binary one. Throws `Unreadable`. */
export async function sampleOf(file: SourceFile): Promise<Sample | null> {
  let text = '';
  for await (const piece of asUtf8(file.bytes())) {
    text += piece.toString();
    if (text.trimStart() !== '' || text.length > TEXT_SAMPLE) break;
  }
  if (text.startsWith(SQLITE_MARK)) return { form: 'sqlite', tables: await tablesIn(file) };
  if (text.trim() === '' || text.slice(0, TEXT_SAMPLE).includes('\0')) return null;
  if (!/^\s*[[{]/.test(text)) return { form: 'text', text: text.slice(0, TEXT_SAMPLE) };
  for await (const { value } of elementsOf(file, () => undefined, { bytes: 0 })) return { form: 'json', first: value };
  return null;
}

/** The bytes as UTF-8 without a byte order mark; a file in UTF-16 begins with one. */
export async function* asUtf8(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let isFirst = true;
  for await (const piece of bytes) {
    if (piece.length === 0) continue;
    const mark = isFirst ? piece.toString('hex', 0, 3) : '';
    if (mark.startsWith('fffe')) decoder = new TextDecoder('utf-16le');
    else if (mark.startsWith('feff')) decoder = new TextDecoder('utf-16be');
    const plain = mark === 'efbbbf' ? piece.subarray(3) : piece;
    isFirst = false;
    yield decoder === null ? plain : Buffer.from(decoder.decode(plain, { stream: true }));
  }
  return undefined;
}

/**
 * Whether a file has an object on each line: one of its first lines is one, though the very first may be damaged, or
 * that is too long to tell and begins as one.
 */
function isLines(first: Buffer): boolean {
  const text = first.toString('utf8', 0, 1024 * 1024).trimStart();
  if (!text.startsWith('{')) return false;
  const lines = text.split('\n', 100);
  if (lines.length === 1) return true;
  // In one object over several lines, those in it are indented.
  return lines.some((line) => line.startsWith('{') && parsed(Buffer.from(line)) !== null);
}

async function* inLines(pieces: AsyncIterable<Buffer>, report: Report): AsyncGenerator<Placed> {
  let pending: Buffer[] = [];
  let held = 0;
  let number = 0;
  const take = (): Placed | null => {
    number += 1;
    const place = `line ${number}`;
    const [line, length] = [Buffer.concat(pending), held];
    pending = [];
    held = 0;
    if (length > LARGEST_OBJECT) report(place, `a line of ${sizeText(length)} is too long`);
    else if (line.toString().trim() !== '') return placed(line, place, report);
    return null;
  };
  const hold = (part: Buffer): void => {
    held += part.length;
    if (held > LARGEST_OBJECT) pending = [];
    else pending.push(part);
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      hold(piece.subarray(from, end));
      from = end + 1;
      const found = take();
      if (found !== null) yield found;
    }
    hold(piece.subarray(from));
  }
  const last = held > 0 ? take() : null;
  if (last !== null) yield last;
}

async function* inArray(pieces: AsyncIterable<Buffer>, report: Report): AsyncGenerator<Placed> {
  const splitter = new ArraySplitter(LARGEST_OBJECT);
  let [at, dropped] = [0, 0];
  for await (const piece of pieces) {
    for (const { text, start } of splitter.elements(piece)) {
      const found = placed(text, `byte ${at + start}`, report);
      if (found !== null) yield found;
    }
    for (; dropped < splitter.dropped; dropped += 1)
      report(`byte ${at}`, `an object of more than ${sizeText(LARGEST_OBJECT)} is too large`);
    at += piece.length;
  }
  if (splitter.isInside) report(`byte ${at}`, 'the file ends in the middle of an object');
  else if (splitter.isOpen) report(`byte ${at}`, 'the file ends in the middle of an array');
}

function placed(text: Buffer, place: string, report: Report): Placed | null {
  const value = parsed(text);
  if (value === null) report(place, 'not a JSON object');
  else if (isTooDeep(value)) report(place, `nested deeper than ${MAX_LEVELS} levels`);
  else return { value, place };
  return null;
}

function parsed(text: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text.toString());
    return isJsonObject(value) ? value : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
