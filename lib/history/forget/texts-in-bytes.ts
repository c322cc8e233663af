import { inflateSync } from 'node:zlib';
import { occurrenceOf } from '../../chat/occurrence.js';

/** The most that a compressed part of a document may hold. Bytes. */
const MOST = 64 * 1024 * 1024;

/**
 * Tells whether the bytes of an attachment contain a text: in UTF-8, in UTF-16 of either order, in Latin-1, and in a PDF also in its strings, in whatever way
 * they are written, and in its compressed parts. Not in what a picture shows or a recording says, nor in letters that a font numbers in its own way.
 */
export function occurrenceInBytes(text: string): (bytes: Buffer) => boolean {
  const holds = occurrenceOf(text);
  const cases = [text, text.toLowerCase(), text.toUpperCase()];
  const exact = cases.flatMap((one) => {
    const units = Buffer.from(one, 'utf16le');
    const isLatin = Buffer.from(one, 'latin1').toString('latin1') === one;
    return [units, Buffer.from(units).swap16(), ...(isLatin ? [Buffer.from(one, 'latin1')] : [])];
  });
  const isIn = (bytes: Buffer): boolean =>
    exact.some((one) => bytes.includes(one)) || holds(bytes.toString('utf8')) || holds(wideText(bytes));
  return (bytes) => {
    for (const part of partsOf(bytes)) if (isIn(part)) return true;
    return false;
  };
}

/** The texts in UTF-16 whose letters are those of Latin-1. */
const wideText = (bytes: Buffer): string =>
  (bytes.toString('latin1').match(/(?:[\t-\r -~\xa0-\xff]\0){2,65536}/g) ?? []).join('\n').replaceAll('\0', '');

/** The bytes as they are; of a PDF also with its strings spelled out, and those of its compressed parts. */
function* partsOf(bytes: Buffer): Generator<Buffer> {
  yield bytes;
  if (!bytes.subarray(0, 1024).includes('%PDF-')) return;
  yield* stringsOf(bytes);
  for (const stream of streamsIn(bytes)) {
    yield stream;
    yield* stringsOf(stream);
  }
}

/** The strings of a PDF: without escapes, and those of a line that are placed one by one as one; and those in hexadecimal. */
function* stringsOf(bytes: Buffer): Generator<Buffer> {
  const text = bytes.toString('latin1');
  const plain = text
    .replace(/\)\s{0,9}-?[\d.]{0,9}\s{0,9}\(/g, '')
    .replace(/\\(?:([0-7]{1,3})|\r?\n|([\s\S]))/g, (_, octal?: string, one?: string) =>
      octal === undefined ? (SPACES[one ?? ''] ?? one ?? '') : String.fromCharCode(Number.parseInt(octal, 8) & 255),
    );
  yield Buffer.from(plain, 'latin1');
  const hex = text.replace(/>\s{0,9}-?[\d.]{0,9}\s{0,9}</g, '').match(/<[\da-fA-F\s]{4,65536}>/g) ?? [];
  for (const one of hex) yield Buffer.from(one.replace(/[<>\s]/g, ''), 'hex');
}

const SPACES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** What the compressed parts of a PDF decompress to, as far as that is possible. */
function* streamsIn(bytes: Buffer): Generator<Buffer> {
  for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at + 6)) {
    if (bytes.toString('latin1', at - 3, at) === 'end') continue;
    const start = at + 6 + (bytes[at + 6] === 13 ? 2 : 1);
    const end = bytes.indexOf('endstream', start);
    if (end < 0) return;
    try {
      yield inflateSync(bytes.subarray(start, end), { maxOutputLength: MOST, finishFlush: 2 });
    } catch {
      // Packed in another way, or a picture.
    }
  }
}
