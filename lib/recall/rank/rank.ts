import type { Bounds } from './bounds.js';
import type { RankedDocument } from './chooser.js';
import type { Query } from './query.js';
import type { Scores } from './scores.js';
import { mostBySecondLook, secondLook } from './second-look.js';

/** The number of documents to rank, and of those to rank with their text, because reading text takes most of the time. */
const RANKED = 100;
const LOOKED_AT = 24;

/** The number of documents to rank if all with the words are wanted, or if a text must occur literally. */
const MANY = 2000;

/** The best documents, best first. `textOf` reads the text of one; null if it must not be returned. */
export function* rank(scores: Scores, query: Query, bounds: Bounds, textOf: TextOf): Generator<RankedDocument> {
  yield* ranked(scores, query, candidatesFor(scores, query, bounds, false), textOf);
}

/** Reads the text of a document; null if it must not be returned. */
export type TextOf = (document: number) => string | null;

/** The candidates, best first according to the index; `many` if all with the words are wanted. */
export function candidatesFor(scores: Scores, query: Query, bounds: Bounds, many: boolean): readonly RankedDocument[] {
  return scores.best(query.terms, bounds, query.phrases.length > 0 || many ? MANY : RANKED);
}

/** The candidates reordered by their texts, best first. Reads a text only if it can change the order, since reading takes most of the time. */
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

/** The certainty of a match: the share of the query that the document contains, and the rarity of these words. */
export function certainty({ coverage, weight }: RankedDocument): number {
  return coverage * Math.sqrt(weight);
}
