import { Arena } from '../index/arena.js';
import { BEYOND, type IndexPart, type Postings } from '../index/part.js';
import { isCharacter, otherForms, type Term } from './query.js';
import { UNIT } from './weigh.js';

/** The documents that contain a term, by part. */
export interface FoundTerm {
  /** The number of documents. */
  readonly count: number;
  /** Several for one part if the term has several forms. */
  readonly lists: readonly { readonly part: number; readonly postings: Postings }[];
}

/** Decides which documents count: the kind of each, and whether each kind is wanted. */
export interface Counted {
  readonly kinds: Uint8Array;
  readonly wanted: readonly boolean[];
}

/** The searched parts, each with the number of its first document. */
export type PlacedParts = readonly { readonly part: IndexPart; readonly start: number }[];

/** Looks up a term. Tries other spellings and longer words only if the word does not occur. `counted` says which documents count; null for all. */
export function findTerm(parts: PlacedParts, term: Term, counted: Counted | null): FoundTerm {
  const found = isCharacter(term) ? null : findForms(parts, term.forms, counted);
  if (found !== null && found.count > 0) return found;
  const others = otherForms(
    parts.map(({ part }) => part),
    term,
  );
  return findForms(parts, others, counted);
}

function findForms(parts: PlacedParts, forms: readonly string[], counted: Counted | null): FoundTerm {
  const lists: { readonly part: number; readonly postings: Postings }[] = [];
  let count = 0;
  for (const [number, { part, start }] of parts.entries()) {
    let most = 0;
    for (const form of forms) {
      const postings = part.find(form);
      if (postings === null) continue;
      lists.push({ part: number, postings });
      // Two spellings of one word are in the same documents.
      most = Math.max(most, counted === null ? postings.count : countIn(postings, start, counted));
    }
    count += most;
  }
  return { count, lists };
}

/** Memory for counting, which needs the lists only briefly. */
const counting = new Arena();

function countIn(postings: Postings, start: number, { kinds, wanted }: Counted): number {
  let sum = 0;
  counting.clear();
  for (const list of postings.lists(counting)) {
    const count = list.readBelow(BEYOND);
    const { documents, first } = list;
    for (let index = first; index < first + count; index += 1) {
      if (wanted[kinds[start + (documents[index] ?? 0)] ?? 0] === true) sum += 1;
    }
  }
  return sum;
}

/** The weight of a word in `found` of `all` documents, in parts of a unit. */
export function weightOf(found: number, all: number): number {
  return Math.ceil(UNIT * Math.log(1 + (all - found + 0.5) / (found + 0.5)));
}
