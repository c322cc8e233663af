import { hiddenCommand, type NestedCommand, NOTHING } from './nested.js';
import { programName } from './program-name.js';
import { type SedEffects, sedEffects } from './sed-script.js';
import type { ShellWord } from './shell-word.js';

/** `isKnown`: whether no word of unknown value may be an option or a script. */
export interface SedCommand extends SedEffects {
  readonly isKnown: boolean;
}

const LONG_FLAGS =
  /^--(?:quiet|silent|debug|posix|regexp-extended|separate|null-data|zero-terminated|unbuffered|binary|follow-symlinks|sandbox|in-place(?:=[^/]*)?|line-length=\d+|help|version)$/;

/** Whether these are the words of sed. */
export function isSed(words: readonly ShellWord[]): boolean {
  return ['sed', 'gsed', 'ssed'].includes(programName(words[0]?.value ?? ''));
}

/** What the script of a command of sed runs. */
export function nestedInSed(words: readonly ShellWord[]): NestedCommand {
  const { runs, isClear } = sedCommand(words);
  if (!isClear) return hiddenCommand('it is unclear what the script of sed does');
  if (runs.length === 0) return NOTHING;
  return hiddenCommand(runs[0] ? `its script runs ${runs[0]}` : 'its script runs what sed makes of the input');
}

/** The files that the script of a command of sed names. A tilde is part of the name. */
export function filesOfSed(words: readonly ShellWord[]): readonly { use: 'read' | 'write'; path: string }[] {
  const { reads, writes } = sedCommand(words);
  const plain = (path: string): string => (path.startsWith('~') ? `./${path}` : path);
  return [
    ...reads.map((path) => ({ use: 'read', path: plain(path) }) as const),
    ...writes.map((path) => ({ use: 'write', path: plain(path) }) as const),
  ];
}

/** What a sed command does besides reading its files and printing. Ignores `-i`. */
export function sedCommand(words: readonly ShellWord[]): SedCommand {
  const line = new SedWords(words.slice(1));
  const { isClear, ...effects } = sedEffects(line.scripts.join('\n'));
  return { ...effects, isClear: isClear && line.isClear, isKnown: line.isKnown };
}

class SedWords {
  readonly scripts: string[] = [];
  isClear = true;
  isKnown = true;
  readonly #operands: (string | null)[] = [];
  readonly #words: readonly ShellWord[];
  #at = 0;

  constructor(words: readonly ShellWord[]) {
    this.#words = words;
    let isOptions = true;
    while (this.#at < words.length) {
      const word = words[this.#at];
      const value = word?.value ?? null;
      this.#at += 1;
      if (value === null && word?.mayBeOption === true) this.isKnown = false;
      if (!isOptions || value === null || !/^-./.test(value)) this.#operands.push(value);
      else if (value === '--') isOptions = false;
      else if (value.startsWith('--')) this.#long(value);
      else this.#short(value);
    }
    if (this.scripts.length === 0) this.#takeOperand();
  }

  /** On macOS the first word after `-i` is the ending of a copy, which is mostly empty. */
  #takeOperand(): void {
    const [first, second] = this.#operands;
    this.#script(first);
    if (first === '' && second !== undefined) this.#script(second);
  }

  #script(value: string | null | undefined): void {
    if (value === null) this.isKnown = false;
    else if (value !== undefined) this.scripts.push(value);
  }

  // Where options end at the first operand (macOS, POSIXLY_CORRECT), a script in front of `-e` is the one that runs.
  #expression(value: string | null): void {
    if (this.#operands.length > 0) this.#script(this.#operands[0]);
    this.#script(value);
  }

  #long(value: string): void {
    const [, name = '', , given] = /^--([^=]*)(=(.*))?$/s.exec(value) ?? [];
    if ('expression'.startsWith(name)) this.#expression(given ?? this.#value());
    else if ('line-length'.startsWith(name) && given === undefined) this.#value();
    else if (!LONG_FLAGS.test(value)) this.isClear = false;
  }

  #short(value: string): void {
    for (let index = 1; index < value.length; index += 1) {
      const rest = value.slice(index + 1);
      switch (value[index]) {
        case 'e':
          this.#expression(rest === '' ? this.#value() : rest);
          return;
        case 'l':
          if (rest === '') this.#value();
          return;
        case 'i':
          if (rest.includes('/')) this.isClear = false;
          return;
        default:
          if (!'nErsuzb'.includes(value[index] ?? '')) this.isClear = false;
      }
    }
  }

  /** The next word, as the value of an option. */
  #value(): string | null {
    const word = this.#words[this.#at];
    this.#at += 1;
    if (word === undefined) this.isClear = false;
    if (word?.value === null && word.mayBeOption) this.isKnown = false;
    return word?.value ?? null;
  }
}
