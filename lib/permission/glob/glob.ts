/** One element of a pattern for a name. A set is written `[a-z]`, or `[!a-z]` for every other character. */
type Token =
  | { readonly kind: 'character'; readonly text: string }
  | { readonly kind: 'any character' }
  | { readonly kind: 'any characters' }
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly members: string };

/** A pattern for one name, without the slashes of a path. */
export type NamePattern = readonly Token[];

/** A pattern for a path, step by step; `**` is any number of folders. */
type PathPattern = readonly (NamePattern | '**')[];

/** Stands for unknown text in a pattern: any characters, including a leading dot. */
export const ANYTHING = '\0';

/** Braces are expanded to no more words than this. */
const MAX_ALTERNATIVES = 200;

const BRACES = /(?<!\\)\{((?:[^{}\\]|\\.)*)\}/;

const TOKEN = /\\(.)|\[([!^]?)((?:\\.|[^\\])(?:\\.|[^\\\]])*)\]|./gsu;

/** Whether a text is a pattern, not the plain name of a file. */
export const isGlob = (text: string): boolean => /[*?[\]{}]/.test(text);

/** Escapes all special characters. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{},+]/g, '\\$&');
}

/** Reads a pattern for a name: `*`, `?`, `[a-z]`, a backslash before a literal character. */
export function namePattern(text: string): NamePattern {
  return [...text.matchAll(TOKEN)].map(([token, escaped, negation, members]): Token => {
    if (escaped !== undefined) return { kind: 'character', text: escaped };
    if (members !== undefined) return { kind: 'set', isNegated: negation !== '', members };
    if (token === '?') return { kind: 'any character' };
    return token === '*' || token === ANYTHING ? { kind: 'any characters' } : { kind: 'character', text: token };
  });
}

/** The name that a pattern without special characters matches; null for any other pattern. */
export function fixedName(pattern: NamePattern): string | null {
  const characters = pattern.flatMap((token) => (token.kind === 'character' ? [token.text] : []));
  return characters.length === pattern.length ? characters.join('') : null;
}

/** Whether a name matches. */
export function matchesName(pattern: NamePattern, name: string): boolean {
  return matchesAll(pattern, [...name], ({ kind }) => kind === 'any characters', matchesCharacter);
}

/** Compiles a rule's pattern for absolute paths: the syntax of names, `**` for any number of folders, and `{a,b}`. */
export function pathMatcher(text: string): (path: string) => boolean {
  const patterns = (expandBraces(text, ruleRange) ?? []).map(pathPattern);
  return (path) => {
    const steps = stepsOf(path);
    return patterns.some((pattern) => matchesAll(pattern, steps, (step) => step === '**', matchesStep));
  };
}

/**
 * The part of a rule's pattern that is not supported; null if all of it is. A deny rule with such a part would silently
 * match nothing.
 */
export function unsupportedGlob(text: string): string | null {
  const [found = alternation(text)] = /^!|[@!+*?]\(|\[\[:/.exec(text) ?? [];
  if (found !== null) return found;
  return expandBraces(text, ruleRange) === null ? '{…}' : null;
}

/** The first `(a|b)` of a text; null if there is none. */
function alternation(text: string): string | null {
  const group = text
    .split(')')
    .slice(0, -1)
    .map((piece) => piece.slice(piece.indexOf('(')))
    .find((piece) => piece.startsWith('(') && piece.includes('|'));
  return group === undefined ? null : `${group})`;
}

/**
 * The words that `{a,b}` expands to; null if there are too many. `alone` returns the expansion of a group without a
 * comma, such as `{a..z}`, and returns null if that is not supported.
 */
export function expandBraces(word: string, alone: (inside: string) => string | null): readonly string[] | null {
  let words: readonly string[] = [word];
  while (words.some((one) => BRACES.test(one))) {
    const next = words.flatMap((one) => alternatives(one, alone));
    if (next.includes(null) || words.length > MAX_ALTERNATIVES) return null;
    words = next.filter((one) => one !== null);
  }
  return words;
}

function alternatives(word: string, alone: (inside: string) => string | null): readonly (string | null)[] {
  const [group, inside = ''] = BRACES.exec(word) ?? [];
  if (group === undefined) return [word];
  const pieces = inside.split(/(?<!\\),/);
  const choices = pieces.length === 1 ? [alone(inside)] : pieces;
  return choices.map((piece) => (piece === null ? null : word.replace(group, () => piece)));
}

/** `{a..c}` is `[a-c]`; `{a}` is a name with braces in it. */
function ruleRange(inside: string): string | null {
  const [, first, last] = /^(\w)\.\.(\w)$/.exec(inside) ?? [];
  if (first !== undefined) return `[${first}-${last}]`;
  return inside.includes('..') ? null : `\\{${inside}\\}`;
}

const stepsOf = (path: string): readonly string[] => path.split('/').filter((step) => step !== '');

// `src/**` includes `src` itself, but `x*/**` matches only paths below these folders: a rule that allows it must not
// allow the files next to them.
function pathPattern(text: string): PathPattern {
  const collapsed = text.replace(/(\/\*\*)+(?=\/|$)/g, '/**');
  const steps = stepsOf(/\*\/\*\*$/.test(collapsed) ? `${collapsed}/*` : collapsed);
  return steps.map((step) => (step === '**' ? '**' : namePattern(step)));
}

const matchesStep = (step: NamePattern | '**', name: string): boolean => step !== '**' && matchesName(step, name);

function matchesCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case 'character':
      return token.text === character;
    case 'set':
      return isMember(token.members, character) !== token.isNegated;
    default:
      return true;
  }
}

function isMember(members: string, character: string): boolean {
  const found = [...members.matchAll(/(?:\\(.)|(.))(?:-(?:\\(.)|([^\\])))?/gsu)];
  return found.some(([, escaped, plain, escapedEnd, plainEnd]) => {
    const first = escaped ?? plain ?? '';
    return (
      codePoint(first) <= codePoint(character) && codePoint(character) <= codePoint(escapedEnd ?? plainEnd ?? first)
    );
  });
}

const codePoint = (character: string): number => character.codePointAt(0) ?? -1;

/**
 * Compares items with a pattern in which some elements stand for any number of items. It only ever goes back to the
 * last of these, so the time grows with the product of both lengths. A regular expression with many `*` would take
 * exponential time on a long name, and the model chooses both.
 */
function matchesAll<Element, Item>(
  pattern: readonly Element[],
  items: readonly Item[],
  isAnyNumber: (element: Element) => boolean,
  matchesOne: (element: Element, item: Item) => boolean,
): boolean {
  let [element, position, lastAny, resume] = [0, 0, -1, 0];
  while (position < items.length) {
    const [wanted, item] = [pattern[element], items[position]];
    if (wanted !== undefined && isAnyNumber(wanted)) {
      lastAny = element;
      resume = position;
      element += 1;
    } else if (wanted !== undefined && item !== undefined && matchesOne(wanted, item)) {
      element += 1;
      position += 1;
    } else if (lastAny !== -1) {
      resume += 1;
      element = lastAny + 1;
      position = resume;
    } else return false;
  }
  return pattern.slice(element).every(isAnyNumber);
}
