import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import type { Archive } from './index/archive.js';
import { documentKind, searchedText } from './index/documents.js';
import type { Kind } from './index/part.js';
import type { Query } from './rank/query.js';
import { phraseTest } from './rank/second-look.js';
import { type Finds, type Hit, isWithin, type Search } from './search.js';
import type { Library } from './searched-index.js';

/** Consecutive words, in UTF-8. */
type Marks = readonly Buffer[];

/**
 * Searches everything, newest first, for a text that the index cannot find, such as punctuation or half a word, or that is in none of the best documents.
 * Parses only pieces whose bytes show that they may contain it.
 */
export async function findPhrases(
  archive: Archive,
  library: Library,
  query: Query,
  search: Search,
  kinds: readonly Kind[] | null,
  signal?: AbortSignal,
): Promise<Finds> {
  const hits: Hit[] = [];
  const hasPhrases = phraseTest(query);
  const look = (messages: readonly Message[]): void => {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const message = messages[index];
      if (message === undefined || library.isUndone(message) || !isWithin(message, search)) continue;
      const [kind, text] = [documentKind(message), searchedText(message)];
      if (kinds?.includes(kind) === false || !hasPhrases(text)) continue;
      const before = library.said(messages[index - 1] ?? null);
      const after = library.said(messages[index + 1] ?? null);
      hits.push(hitOf(library, message, text, before, after));
    }
  };
  const marks = query.phrases.flatMap(marksOf);
  const mayHave = (json: Buffer): boolean => marks.every((words) => hasInOrder(json, words));
  look(archive.rest().filter(isMessage));
  for (const piece of archive.pieces.toReversed()) {
    if (hits.length >= search.count) break;
    signal?.throwIfAborted();
    await yieldToEvents();
    if (!mayHave(archive.json(piece))) continue;
    look(archive.read(piece).flatMap(({ entry }) => (isMessage(entry) ? [entry] : [])));
  }
  return { hits: hits.slice(0, search.count), more: Math.max(0, hits.length - search.count), isWhole: true };
}

function hitOf(library: Library, message: Message, text: string, before: Hit['before'], after: Hit['after']): Hit {
  const kind = documentKind(message);
  return { ...library.said(message), kind, text, before, after, certainty: 0, newer: null };
}

/** The bytes that the JSON of every text with the phrase contains: ASCII letters and digits, ignoring case, and Chinese characters are never escaped. */
function marksOf(phrase: string): readonly Marks[] {
  const text = phrase.normalize('NFC');
  const plain = text.split(/[^\0-\x7f]+/).map((run) => run.toLowerCase().match(/[a-z\d]+/g) ?? []);
  const han = text.match(/[\u4e00-\u9fff]+/g) ?? [];
  return [...plain.filter(({ length }) => length > 0), ...han.map((run) => [run])].map((words) => {
    return words.map((word) => Buffer.from(word));
  });
}

/** Whether the JSON contains these words in order, separated only by characters other than letters and digits. */
function hasInOrder(json: Buffer, [first, ...rest]: Marks): boolean {
  if (first === undefined) return true;
  for (let at = json.indexOf(first); at >= 0; at = json.indexOf(first, at + 1)) {
    let end = at + first.length;
    const isNext = (word: Buffer): boolean => {
      const start = afterSeparators(json, end);
      end = start + word.length;
      return end <= json.length && json.compare(word, 0, word.length, start, end) === 0;
    };
    if (rest.every(isNext)) return true;
  }
  return false;
}

const [BACKSLASH, U] = Buffer.from('\\u');

/** The position of the next letter or digit, skipping escapes such as `\n`. */
function afterSeparators(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && !isWordByte(json[at] ?? 0)) {
    if (json[at] !== BACKSLASH) at += 1;
    else at += json[at + 1] === U ? 6 : 2;
  }
  return at;
}

/** True for `0` to `9` and `a` to `z`. */
function isWordByte(byte: number): boolean {
  return (byte > 47 && byte < 58) || (byte > 96 && byte < 123);
}
