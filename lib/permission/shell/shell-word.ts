import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { Word, WordPart } from 'unbash';

/** One word of a command. */
export interface ShellWord {
  /** The word as written. */
  readonly text: string;
  /** The value that the program gets, without quotes; null if it depends on variables, files or other commands. */
  readonly value: string | null;
  /** Whether it may expand to an option, or to several words. */
  readonly mayBeOption: boolean;
}

/** A word about which nothing is known. */
export const UNKNOWN_WORD: ShellWord = { text: '…', value: null, mayBeOption: true };

/** What is known about a word before bash expands it. */
export function shellWord(word: Word): ShellWord {
  const value = word.parts === undefined ? word.value : joinedValue(word.parts);
  if (value === null) return { text: word.text, value: null, mayBeOption: mayBeOption(word.parts ?? []) };
  // ~+, ~- and ~1 are folders of the shell, ~name is another user's.
  if (/^~[^/]/.test(word.text)) return { text: word.text, value: null, mayBeOption: false };
  return { text: word.text, value: withHome(word, value), mayBeOption: value.startsWith('-') };
}

function joinedValue(parts: readonly WordPart[]): string | null {
  let value = '';
  for (const part of parts) {
    const known = valueOfPart(part);
    if (known === null) return null;
    value += known;
  }
  return value;
}

function valueOfPart(part: WordPart): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
      return joinedValue(part.parts);
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return /^\$(HOME|\{HOME\})$/.test(part.text) ? homedir() : null;
    default:
      return null;
  }
}

// Bash expands a tilde only where it is not quoted.
function withHome({ text }: Word, value: string): string {
  return text === '~' || text.startsWith('~/') ? homedir() + value.slice(1) : value;
}

/** A word with a literal beginning other than a dash is one word and no option, unless bash splits the rest of it. */
function mayBeOption(parts: readonly WordPart[]): boolean {
  const [first] = parts;
  const begin = first === undefined ? null : fixedBeginning(first);
  if (begin === null || begin === '' || begin.startsWith('-')) return true;
  return parts.some((part) => !['Literal', 'SingleQuoted', 'AnsiCQuoted', 'DoubleQuoted', 'Glob'].includes(part.type));
}

function fixedBeginning(part: WordPart): string | null {
  if (part.type !== 'DoubleQuoted') return valueOfPart(part);
  const [first] = part.parts;
  return first === undefined ? '' : valueOfPart(first);
}

/** The shell that runs a command. `sh` is any shell other than bash; only POSIX syntax is assumed for it. */
export type ShellName = 'bash' | 'sh';

/** The name of a program without its folder: `rm` for `rm.exe`, and for `/bin/RM` where file names ignore case. */
export function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat)$/, '');
}
