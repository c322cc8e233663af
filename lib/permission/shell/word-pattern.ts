import { homedir } from 'node:os';
import type { WordPart } from 'unbash';
import { ANYTHING, escapeGlob } from '../glob/glob.js';

/** A glob pattern that matches every value a word may expand to: quoted characters are escaped, and `[…]` stands for any character. */
export function wordPattern(parts: readonly WordPart[]): string {
  const pattern = parts.map(patternOf).join('');
  // Each of these is the folder that the command runs in.
  return pattern.replace(/^(\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`|~\\\+)(?=\/|$)/, '.').replace(/\0+/g, ANYTHING);
}

function patternOf(part: WordPart, index: number): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return escapeGlob(part.value);
    case 'DoubleQuoted':
      return part.parts.map((inner, place) => patternOf(inner, index + place)).join('');
    case 'Glob':
      return part.text.startsWith('[') ? '?' : part.text;
    case 'BraceExpansion':
      return alternatives(part.text);
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      if (/^\$(HOME|\{HOME\})$/.test(part.text)) return escapeGlob(homedir());
      return index === 0 && /^\$(PWD|\{PWD\})$/.test(part.text) ? part.text : ANYTHING;
    case 'CommandExpansion':
      return index === 0 && /^(\$\(pwd\)|`pwd`)$/.test(part.text) ? part.text : ANYTHING;
    default:
      return ANYTHING;
  }
}

/** `{a,b}`, with the quoted characters in it escaped. */
function alternatives(text: string): string {
  const known = text
    .replace(/'([^']*)'|"([^"$`\\]*)"|\\(.)/gs, (_quoted, single, double, one) => escapeGlob(single ?? double ?? one))
    .replace(/\$(\w+|\{[^{}]*\}|[@*#?$!-])/g, ANYTHING);
  const plain = withoutClasses(known);
  return /[$`"']/.test(plain) ? ANYTHING : plain;
}

/** The text with `?` for each class of characters (`[a-z]`), which ends at the first `]` and those that follow it. */
function withoutClasses(text: string): string {
  let [result, isBehindClass] = ['', false];
  const pieces = text.split(']');
  for (const [index, piece] of pieces.entries()) {
    const begin = piece.indexOf('[');
    const isLast = index === pieces.length - 1;
    if (isBehindClass && piece === '') continue;
    isBehindClass = begin !== -1 && !isLast;
    result += isBehindClass ? `${piece.slice(0, begin)}?` : piece + (isLast ? '' : ']');
  }
  return result;
}
