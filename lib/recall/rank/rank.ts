import type { Bounds } from './bounds.js';
import type { Query } from './query.js';
import type { RankedDocument, Scores } from './scores.js';
import { secondLook } from './second-look.js';

/** How many documents are ranked, and how many of them with their text: reading it is what takes time. */
const RANKED = 100;
const LOOKED_AT = 24;

/** How many are ranked where all are wanted that have the words, or where a text must be there just so. */
const MANY = 2000;

/** The documents that fit best, best first; `textOf` reads one, null for one that must not be given. */
export function rank(
  scores: Scores,
  query: Query,
  bounds: Bounds,
  textOf: (document: number) => string | null,
  many = false,
): readonly RankedDocument[] {
  const isExact = query.phrases.length > 0;
  const candidates = scores.best(query.terms, bounds, isExact || many ? MANY : RANKED);
  const [looked, rest] = isExact ? [candidates, []] : [candidates.slice(0, LOOKED_AT), candidates.slice(LOOKED_AT)];
  const again = looked.flatMap((candidate) => {
    const text = textOf(candidate.document);
    return text === null ? [] : [{ ...candidate, score: candidate.score * secondLook(query, text) }];
  });
  return [...again.sort((one, other) => other.score - one.score), ...rest];
}

/** How sure it is that a document is what was asked for: the share of the question it has, and how rare that is. */
export function certainty({ coverage, weight }: RankedDocument): number {
  return coverage * Math.sqrt(weight);
}
