import type { IndexPart } from '../index/part.js';
import { otherSpellings } from '../words/fold.js';
import { stem } from '../words/stem.js';
import { describedWords, words } from '../words/words.js';

/** A word that is looked for, in all the forms it may have. */
export interface Term {
  readonly forms: readonly string[];
  /** Not missed where it is nowhere: the parts of such a name are looked for as well. */
  readonly isWhole: boolean;
}

/** Two words, one after the other. */
export interface Pair {
  readonly first: string;
  readonly second: string;
}

/** What is looked for. */
export interface Query {
  readonly terms: readonly Term[];
  /** Words that follow each other in the question. */
  readonly pairs: readonly Pair[];
  /** What must be in the text just so, in any case. */
  readonly phrases: readonly string[];
}

const PHRASE = /"([^"]+)"|“([^“”]+)”|„([^“„]+)“|«([^«»]+)»/g;

/** A search as it was typed. */
export function parseQuery(text: string): Query {
  const phrases = Array.from(text.matchAll(PHRASE), ([, ...found]) => found.find((one) => one !== undefined) ?? '');
  return { terms: termsOf(text), pairs: pairsOf(words(text)), phrases: phrases.filter((one) => one.trim() !== '') };
}

/** The same. What has no words in it, such as `&&`, or only such as say nothing, is looked for just so. */
export function queryOf(text: string): Query {
  const query = parseQuery(text);
  const phrase = text.trim();
  const isWords = query.terms.length > 0 || query.phrases.length > 0 || phrase === '';
  return isWords ? query : { ...query, phrases: [phrase] };
}

function termsOf(text: string): readonly Term[] {
  const terms: { readonly forms: string[]; readonly isWhole: boolean }[] = [];
  let isInRun = false;
  for (const { word, as } of describedWords(text)) {
    const last = terms.at(-1);
    if (as === 'other' && last) last.forms.push(word);
    else if (as !== 'end' || !isInRun) terms.push({ forms: [word], isWhole: as === 'whole' });
    isInRun = as === 'pair';
  }
  const known = new Set<string>();
  return terms.filter(({ forms: [word = ''] }) => !known.has(word) && known.add(word));
}

function pairsOf(sequence: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  sequence.forEach((first, index) => {
    const second = sequence[index + 1];
    if (second === undefined || second === first) return;
    if (!pairs.some((pair) => pair.first === first && pair.second === second)) pairs.push({ first, second });
  });
  return pairs;
}

/** How many longer words one beginning may stand for. */
const BEGINNINGS = 32;

/** Whether a term is one character of a script that is written without spaces: it is found at the beginning of pairs. */
export function isCharacter({ forms: [word = ''] }: Term): boolean {
  return /^[^\0-\u02ff]$/u.test(word);
}

/** In more documents than that it takes long to look through all words for those that end with one. */
const LOOKED_THROUGH = 20_000;

/** What may stand for a term that is nowhere: other spellings of it, else words that begin or end with it, else those that it is made of. */
export function otherForms(parts: readonly IndexPart[], { forms: [word = '', ...rest] }: Term): readonly string[] {
  if (isCharacter({ forms: [word], isWhole: false })) return [word, ...rest, ...beginnings(parts, word)];
  const isThere = (form: string): boolean => parts.some((part) => part.find(form) !== null);
  const others = otherSpellings(word).filter(isThere);
  if (others.length > 0 || word.length < 5) return others;
  const longer = [...beginnings(parts, word), ...endings(parts, word)];
  return longer.length > 0 ? longer : partsOf(word, isThere);
}

function beginnings(parts: readonly IndexPart[], word: string): readonly string[] {
  return [...new Set(parts.flatMap((part) => part.beginningWith(word, BEGINNINGS)))].slice(0, BEGINNINGS);
}

function endings(parts: readonly IndexPart[], word: string): readonly string[] {
  if (parts.reduce((sum, { count }) => sum + count, 0) > LOOKED_THROUGH) return [];
  return [...new Set(parts.flatMap((part) => part.endingWith(word, BEGINNINGS)))].slice(0, BEGINNINGS);
}

/** The shortest word that a compound is made of, and what may stand between two, as in the German `Versicherung-s-vertrag`. */
const LEAST_PART = 4;
const JOINTS = /(?:es|en|s|n)$/;

/** The two words that a compound is made of, where both are there. */
function partsOf(word: string, isThere: (form: string) => boolean): readonly string[] {
  if (!/^[a-z]+$/.test(word)) return [];
  for (let at = word.length - LEAST_PART; at >= LEAST_PART; at -= 1) {
    const last = word.slice(at);
    if (!isThere(last)) continue;
    const first = [word.slice(0, at), word.slice(0, at).replace(JOINTS, '')].map(stem).find(isThere);
    if (first !== undefined) return [first, last];
  }
  return [];
}
