import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { documentKind, searchedText } from './index/documents.js';
import type { Kind } from './index/part.js';
import type { RankedDocument } from './rank/chooser.js';
import { type Bounds, type Query, queryOf, SAID, whoIsAsked } from './rank/query.js';
import { candidatesFor, certainty, phraseTest, ranked, type TextOf } from './rank/rank.js';
import { type Finds, type Hit, isWithin, type Search } from './search.js';
import { isUndone, type Library } from './searched-index.js';

const KINDS_OF: Readonly<Record<Message['role'], readonly Kind[]>> = {
  user: ['user', 'attached'],
  assistant: ['model', 'foreign', 'call'],
  tool: ['tool', 'note'],
};

const DAY = 86_400_000;

/** The share of the best score from which another hit counts as about as good. */
const AS_WELL = 0.8;

/** The number of texts that are read to estimate how many more contain a phrase. */
const COUNTED = 24;

/** Searches the whole index. Throws `DamagedSegment`. */
export async function find(library: Library, search: Search, signal?: AbortSignal): Promise<Finds> {
  const query = queryOf(search.query);
  const bounds = boundsOf(search);
  const hasPhrases = phraseTest(query);
  if (query.terms.length === 0 && query.phrases.length === 0) return said(library, search, bounds);
  const textOf: TextOf = (document) => {
    const message = library.message(document);
    if (message === null || !isWithin(message, search) || !library.isFound(document)) return null;
    const text = searchedText(message);
    return hasPhrases(text) ? text : null;
  };
  const candidates = candidatesFor(library.scores, query, bounds, search.every === true);
  const whole = candidates.filter(({ terms }) => library.scores.hasAll(terms));
  const hits = (among: readonly RankedDocument[]): Finds => hitsOf(library, query, among, textOf, search.count);
  const some = search.every === true ? hits(whole) : NONE;
  const found = some.hits.length > 0 ? some : hits(candidates);
  if (found.hits.length > 0 || query.phrases.length === 0) return { ...found, isWhole: whole.length > 0 };
  return await findPhrases(library, query, search, bounds.kinds, signal);
}

const NONE: Finds = { hits: [], more: 0, isWhole: false };

function boundsOf({ query, who, from, until }: Search): Bounds {
  return {
    kinds: who === null ? null : KINDS_OF[who],
    from: from && Math.floor(from.getTime() / DAY),
    until: until && Math.floor(until.getTime() / DAY),
    favour: whoIsAsked(query),
  };
}

/** The newest `count` messages of a period. */
function said(library: Library, search: Search, bounds: Bounds): Finds {
  const within = { ...bounds, kinds: bounds.kinds ?? SAID };
  const hits: Hit[] = [];
  let looked = 0;
  for (const document of library.scores.newest(within)) {
    if (hits.length === search.count) break;
    looked += 1;
    const message = library.message(document);
    if (message === null || !isWithin(message, search)) continue;
    const [kind, text] = [documentKind(message), searchedText(message)];
    const found = library.said(message, library.volumeOf(document));
    hits.unshift({ ...found, kind, text, before: null, after: null, certainty: 0, newer: null });
  }
  return { hits, more: library.scores.countWithin(within) - looked, isWhole: true };
}

function hitsOf(
  library: Library,
  query: Query,
  candidates: readonly RankedDocument[],
  textOf: TextOf,
  count: number,
): Finds {
  const hits: Hit[] = [];
  const known = new Set<string>();
  const looked = new Set<number>();
  let least = 0;
  for (const candidate of ranked(library.scores, query, candidates, textOf)) {
    if (hits.length === count) break;
    const text = textOf(candidate.document);
    const message = library.message(candidate.document);
    looked.add(candidate.document);
    // Show only one of several identical messages.
    if (text === null || message === null || known.has(text)) continue;
    known.add(text);
    least ||= AS_WELL * candidate.coverage;
    hits.push(hitOf(library, candidate, message, text));
  }
  if (hits.length < count) return { hits, more: 0, isWhole: false };
  const others = candidates.filter(({ document, coverage }) => coverage >= least && !looked.has(document));
  // The index does not show whether a text contains a phrase.
  const more =
    query.phrases.length === 0 ? others : others.slice(0, COUNTED).filter(({ document }) => textOf(document) !== null);
  return { hits, more: more.length, isWhole: false };
}

function hitOf(library: Library, candidate: RankedDocument, message: Message, text: string): Hit {
  const { document, terms } = candidate;
  const volume = library.volumeOf(document);
  const later = terms === 0 ? null : library.scores.later(document, terms, volume.end);
  const beside = (other: number): Hit['before'] =>
    other < volume.first || other >= volume.end ? null : library.said(library.message(other), volume);
  return {
    ...library.said(message, volume),
    kind: documentKind(message),
    text,
    before: beside(document - 1),
    after: beside(document + 1),
    certainty: certainty(candidate),
    newer: later === null ? null : library.idOf(later),
  };
}

type Volume = Library['volumes'][number];

/** Consecutive words, in UTF-8. */
type Marks = readonly Buffer[];

/**
 * Searches everything, newest first, for a text that the index cannot find, such as punctuation or half a word, or that
 * is in none of the best documents. Parses only pieces whose bytes show that they may contain it.
 */
async function findPhrases(
  library: Library,
  query: Query,
  search: Search,
  kinds: readonly Kind[] | null,
  signal?: AbortSignal,
): Promise<Finds> {
  const hits: Hit[] = [];
  const hasPhrases = phraseTest(query);
  const look = (messages: readonly Message[], volume: Volume): void => {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const message = messages[index];
      if (message === undefined || isUndone(message, volume) || !isWithin(message, search)) continue;
      const [kind, text] = [documentKind(message), searchedText(message)];
      if (kinds?.includes(kind) === false || !hasPhrases(text)) continue;
      const before = library.said(messages[index - 1] ?? null, volume);
      const after = library.said(messages[index + 1] ?? null, volume);
      hits.push({ ...library.said(message, volume), kind, text, before, after, certainty: 0, newer: null });
    }
  };
  const marks = query.phrases.flatMap(marksOf);
  const mayHave = (json: Buffer): boolean => marks.every((words) => hasInOrder(json, words));
  for (const volume of library.volumes) {
    const { archive } = volume;
    look(archive.rest().filter(isMessage), volume);
    for (const piece of archive.pieces.toReversed()) {
      if (hits.length >= search.count) break;
      signal?.throwIfAborted();
      await yieldToEvents();
      if (!mayHave(archive.json(piece))) continue;
      look(
        archive.read(piece).flatMap(({ entry }) => (isMessage(entry) ? [entry] : [])),
        volume,
      );
    }
  }
  return { hits: hits.slice(0, search.count), more: Math.max(0, hits.length - search.count), isWhole: true };
}

/**
 * The bytes that the JSON of every text with the phrase contains: ASCII letters and digits, ignoring case, and Chinese
 * characters are never escaped.
 */
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
