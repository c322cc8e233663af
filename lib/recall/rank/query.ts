import { type IndexPart, KINDS, type Kind } from '../index/part.js';
import { otherSpellings, stem } from '../words/fold.js';
import { askedWords, type IndexTerm } from '../words/words.js';

/** A word of a search, in all its forms. */
export interface Term {
  readonly forms: readonly string[];
  /** True for a name that need not occur, because its parts are terms too. */
  readonly isWhole: boolean;
}

/** Two consecutive words. */
interface Pair {
  readonly first: string;
  readonly second: string;
}

/** A parsed search. */
export interface Query {
  readonly terms: readonly Term[];
  /** Consecutive words of the search. */
  readonly pairs: readonly Pair[];
  /** Texts that must occur literally, ignoring case. */
  readonly phrases: readonly string[];
}

const PHRASE = /"([^"]+)"|“([^“”]+)”|„([^“„]+)“|«([^«»]+)»/g;

/** Parses a search. */
export function parseQuery(text: string): Query {
  const phrases = Array.from(text.matchAll(PHRASE), ([, ...found]) => found.find((one) => one !== undefined) ?? '');
  const asked = askedWords(text);
  const pairs = pairsOf(asked.map(({ word }) => word));
  return { terms: termsOf(asked), pairs, phrases: phrases.filter((one) => one.trim() !== '') };
}

/** The same. A text without words, such as `&&`, or with stop words only is searched for literally. */
export function queryOf(text: string): Query {
  const query = parseQuery(text);
  const phrase = text.trim();
  const isWords = query.terms.length > 0 || query.phrases.length > 0 || phrase === '';
  return isWords ? query : { ...query, phrases: [phrase] };
}

function termsOf(asked: readonly IndexTerm[]): readonly Term[] {
  const terms: { readonly forms: string[]; readonly isWhole: boolean }[] = [];
  for (const { word, as } of asked) {
    const last = terms.at(-1);
    if (as === 'other' && last) last.forms.push(word);
    else terms.push({ forms: [word], isWhole: as === 'whole' });
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

/** The maximum number of longer words for one beginning. */
const BEGINNINGS = 32;

/** The same for one character, which has more: each pair that begins with it. */
const FOLLOWED = 128;

/**
 * Whether a term is one character of a script that is written without spaces: it is found at the beginning of pairs.
 */
export function isCharacter({ forms: [word = ''] }: Term): boolean {
  return /^[^\0-\u02ff]$/u.test(word);
}

/** With more documents than this, searching all words for an ending takes too long. */
const LOOKED_THROUGH = 20_000;

/**
 * Substitutes for a term that does not occur: other spellings, else words that begin or end with it, else its parts.
 */
export function otherForms(parts: readonly IndexPart[], { forms: [word = '', ...rest] }: Term): readonly string[] {
  if (isCharacter({ forms: [word], isWhole: false })) return [word, ...rest, ...beginnings(parts, word, FOLLOWED)];
  const isThere = (form: string): boolean => parts.some((part) => part.find(form) !== null);
  const others = otherSpellings(word).filter(isThere);
  if (others.length > 0 || word.length < 5) return others;
  const longer = [...beginnings(parts, word, BEGINNINGS), ...endings(parts, word)];
  return longer.length > 0 ? longer : partsOf(word, isThere);
}

function beginnings(parts: readonly IndexPart[], word: string, limit: number): readonly string[] {
  return [...new Set(parts.flatMap((part) => part.beginningWith(word, limit)))].slice(0, limit);
}

function endings(parts: readonly IndexPart[], word: string): readonly string[] {
  if (parts.reduce((sum, { count }) => sum + count, 0) > LOOKED_THROUGH) return [];
  return [...new Set(parts.flatMap((part) => part.endingWith(word, BEGINNINGS)))].slice(0, BEGINNINGS);
}

/** The shortest part of a compound, and the letters that may join two, as in the German `Versicherung-s-vertrag`. */
const LEAST_PART = 4;
const JOINTS = /(?:es|en|s|n)$/;

/** The two parts of a compound, if both occur. */
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

/** The conditions of a search other than the words. */
export interface Bounds {
  /** The wanted kinds, null for all. */
  readonly kinds: readonly Kind[] | null;
  /** The first and the last day, counted from 1970, null for no limit. */
  readonly from: number | null;
  readonly until: number | null;
  /** Whether other kinds are ignored completely: as neighbours too, and for the rarity of words. */
  readonly alone?: boolean;
  /** The minimum `certainty`. */
  readonly certain?: number;
  /** Only documents with a smaller number, and only those from this number on. */
  readonly below?: number;
  readonly above?: number;
  /** Called regularly; throws when the time is over. */
  check?(): void;
  /** Factors for the scores of some kinds. */
  readonly favour: Readonly<Partial<Record<Kind, number>>>;
}

/** The kinds of words by the user and the model. */
export const SAID: readonly Kind[] = ['user', 'attached', 'model', 'foreign'];

/** The factor for tool output, which is seldom what the user means. */
const PRINTED = 0.6;

/** By the index of a kind, whether it is wanted. */
export function wantedKinds({ kinds }: Pick<Bounds, 'kinds'>): readonly boolean[] {
  return KINDS.map((kind) => kinds === null || kinds.includes(kind));
}

/** The factor for a kind. */
export function favourOf(kind: Kind, { favour }: Bounds): number {
  return (favour[kind] ?? 1) * (kind === 'tool' || kind === 'note' ? PRINTED : 1);
}

/** The factor for the words of the speaker that the question is about. */
const FAVOUR = 1.6;

const MODEL =
  /\b(?:did|have|had|were|was) you\b|\byou (?:recommend|suggest|said|told|gave|mention|explain|advis|propos|list|provid|walk|help|show|wrote|write)|\b(?:hast|hattest) du\b|\bdu (?:gesagt|empfohlen|vorgeschlagen)|\b(?:as-tu|avez-vous|tu as|vous avez)\b|\b(?:dijiste|recomendaste|sugeriste)\b|你(?:说|推荐|建议|提到)|あなた/iu;

const USER =
  /\b(?:did|have|had|do|am|was|were) I\b|\bmy\b|\bI (?:said|told|asked|mention|want|use|plan|like|prefer)|\b(?:habe|hatte) ich\b|\bmeine?[mnrs]?\b|\b(?:ai-je|j'ai|mon|mes)\b|\b(?:dije|mi|mis)\b|我|私|僕/iu;

/** The speaker that a question is about: the model for `what did you recommend`, the user for `did I say` and `my`. */
export function whoIsAsked(text: string): Readonly<Partial<Record<Kind, number>>> {
  if (MODEL.test(text)) return { model: FAVOUR, foreign: FAVOUR };
  return USER.test(text) ? { user: FAVOUR, attached: FAVOUR } : {};
}
