import type { Message } from '../chat/message.js';
import { findPhrases } from './find-phrases.js';
import type { Archive } from './index/archive.js';
import { documentKind, searchedText } from './index/documents.js';
import type { Kind } from './index/part.js';
import { type Bounds, SAID } from './rank/bounds.js';
import type { RankedDocument } from './rank/chooser.js';
import { type Query, queryOf } from './rank/query.js';
import { candidatesFor, certainty, ranked, type TextOf } from './rank/rank.js';
import { phraseTest } from './rank/second-look.js';
import { whoIsAsked } from './rank/who-is-asked.js';
import { type Finds, type Hit, isWithin, type Search, type Speaker } from './search.js';
import type { Library } from './searched-index.js';

const KINDS_OF: Readonly<Record<Speaker, readonly Kind[]>> = {
  user: ['user', 'attached'],
  model: ['model', 'foreign', 'call'],
  tool: ['tool', 'note'],
};

const DAY = 86_400_000;

/** The share of the best score from which another hit counts as about as good. */
const AS_WELL = 0.8;

/** The number of texts that are read to estimate how many more contain a phrase. */
const COUNTED = 24;

/** Searches the whole index. Throws `DamagedSegment`. */
export async function find(library: Library, archive: Archive, search: Search, signal?: AbortSignal): Promise<Finds> {
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
  return await findPhrases(archive, library, query, search, bounds.kinds, signal);
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
    hits.unshift({ ...library.said(message), kind, text, before: null, after: null, certainty: 0, newer: null });
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
  const later = terms === 0 ? null : library.scores.later(document, terms);
  return {
    message,
    origin: library.said(message).origin,
    kind: documentKind(message),
    text,
    before: library.said(library.message(document - 1)),
    after: library.said(library.message(document + 1)),
    certainty: certainty(candidate),
    newer: later === null ? null : library.idOf(later),
  };
}
