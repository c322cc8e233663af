import type { Bounds } from './bounds.js';
import type { RankedDocument } from './chooser.js';
import type { Query } from './query.js';
import type { Scores } from './scores.js';
import { mostBySecondLook, secondLook } from './second-look.js';

/** How many documents are ranked, and how many of them with their text: reading it is what takes time. */
const RANKED = 100;
const LOOKED_AT = 24;

/** How many are ranked where all are wanted that have the words, or where a text must be there just so. */
const MANY = 2000;

/** The documents that fit best, best first; `textOf` reads one, null for one that must not be given. */
export function* rank(scores: Scores, query: Query, bounds: Bounds, textOf: TextOf): Generator<RankedDocument> {
  yield* ranked(scores, query, candidatesFor(scores, query, bounds, false), textOf);
}

/** Reads the text of a document; null for one that must not be given. */
export type TextOf = (document: number) => string | null;

/** What may be found, best first as far as the index tells; `many` where all are wanted that have the words. */
export function candidatesFor(scores: Scores, query: Query, bounds: Bounds, many: boolean): readonly RankedDocument[] {
  return scores.best(query.terms, bounds, query.phrases.length > 0 || many ? MANY : RANKED);
}

/** The same as their texts tell, best first. Reads a text only where it may change what comes next, since that takes most of the time. */
export function* ranked(
  scores: Scores,
  query: Query,
  candidates: readonly RankedDocument[],
  textOf: TextOf,
): Generator<RankedDocument> {
  const looked = query.phrases.length > 0 ? candidates : candidates.slice(0, LOOKED_AT);
  const most = looked.map((candidate) => {
    return { candidate, score: candidate.score * mostBySecondLook(query, (word) => scores.mayHave(candidate, word)) };
  });
  most.sort((one, other) => other.score - one.score);
  const known: RankedDocument[] = [];
  const look = secondLook(query);
  for (const { candidate, score } of most) {
    while (known.length > 0 && (known[0]?.score ?? 0) >= score) yield* known.splice(0, 1);
    const text = textOf(candidate.document);
    if (text === null) continue;
    const found = { ...candidate, score: candidate.score * look(text) };
    const place = known.findIndex((other) => other.score < found.score);
    known.splice(place < 0 ? known.length : place, 0, found);
  }
  yield* known;
  yield* candidates.slice(looked.length);
}

/** How sure it is that a document is what was asked for: the share of the question it has, and how rare that is. */
export function certainty({ coverage, weight }: RankedDocument): number {
  return coverage * Math.sqrt(weight);
}
