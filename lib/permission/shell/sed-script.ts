/** What a sed script does besides printing lines. */
export interface SedEffects {
  /** The commands that it runs; null for a command from its input. */
  readonly runs: readonly (string | null)[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Whether that is all. */
  readonly isClear: boolean;
}

/** A script that cannot be read. `isInvalid`: no sed runs it. */
class UnreadableScript extends Error {
  readonly isInvalid: boolean;

  constructor(isInvalid: boolean) {
    super('the script of sed cannot be read');
    this.isInvalid = isInvalid;
  }
}

const [ALONE, WITH_TEXT, WITH_LABEL, WITH_NUMBER, WITH_FILE] = ['=dDFgGhHnNpPxz}', 'aic', ':btTv', 'lLqQ', 'rRwW'];

/** Reads a GNU sed script. A script that it cannot read completely is not clear. */
export function sedEffects(script: string): SedEffects {
  const scanner = new SedScanner(script, true);
  const failure = scanner.scan();
  if (failure !== null || !scanner.hasDelimiterInBrackets) return effectsOf([scanner], failure === null);
  // Some versions of sed end the regular expression of `s/[/]/x/` at the first slash, others at the second.
  const other = new SedScanner(script, false);
  const otherFailure = other.scan();
  return effectsOf([scanner, other], otherFailure === null || otherFailure.isInvalid);
}

function effectsOf(scanners: readonly SedScanner[], isClear: boolean): SedEffects {
  return {
    runs: scanners.flatMap(({ runs }) => runs),
    reads: scanners.flatMap(({ reads }) => reads),
    writes: scanners.flatMap(({ writes }) => writes),
    isClear,
  };
}

class SedScanner {
  readonly runs: (string | null)[] = [];
  readonly reads: string[] = [];
  readonly writes: string[] = [];
  /** Whether a regular expression has its delimiter in brackets. */
  hasDelimiterInBrackets = false;
  readonly #text: string;
  readonly #knowsBrackets: boolean;
  #at = 0;

  constructor(text: string, knowsBrackets: boolean) {
    this.#text = text;
    this.#knowsBrackets = knowsBrackets;
  }

  /** Reads the script up to what it cannot read; null if it read all. */
  scan(): UnreadableScript | null {
    try {
      for (;;) {
        this.#pass(/[ \t\n;]*/y);
        if (this.#at >= this.#text.length) return null;
        this.#addresses();
        this.#command(this.#next());
      }
    } catch (failure) {
      if (failure instanceof UnreadableScript) return failure;
      throw failure;
    }
  }

  #addresses(): void {
    if (this.#address()) {
      this.#blanks();
      if (this.#pass(/,/y) !== '') {
        this.#blanks();
        if (this.#pass(/[+~]\d+/y) === '' && !this.#address()) throw new UnreadableScript(false);
      }
    }
    this.#blanks();
    if (this.#pass(/!/y) !== '') this.#blanks();
  }

  #address(): boolean {
    if (this.#pass(/\d+(?:~\d+)?|\$/y) !== '') return true;
    const first = this.#peek();
    if (first !== '/' && first !== '\\') return false;
    if (first === '\\') this.#next();
    this.#expression(this.#delimiter());
    while (this.#pass(/[ \t]*[IM]/y) !== '');
    return true;
  }

  #command(name: string): void {
    if (name === '#') this.#pass(/[^\n]*/y);
    else if (name === 's') this.#substitution();
    else if (name === 'y') this.#transliteration();
    else if (name === 'e') this.#run();
    else if (WITH_TEXT.includes(name)) this.#words();
    else if (WITH_LABEL.includes(name)) this.#label();
    else if (WITH_FILE.includes(name)) this.#file(name.toLowerCase() === 'w' ? this.writes : this.reads);
    else if (ALONE.includes(name)) this.#end();
    else if (WITH_NUMBER.includes(name)) {
      this.#pass(/[ \t]*\d*/y);
      this.#end();
    } else if (name !== '{') throw unexpected(name);
  }

  #end(): void {
    this.#blanks();
    if (!this.#isAtEnd()) throw unexpected(this.#peek());
  }

  #isAtEnd(): boolean {
    return ';\n#}'.includes(this.#peek());
  }

  #substitution(): void {
    const delimiter = this.#delimiter();
    this.#expression(delimiter);
    this.#delimited(delimiter);
    while (!this.#isAtEnd()) {
      const flag = this.#next();
      if (flag === 'w') {
        this.#file(this.writes);
        return;
      }
      if (flag === 'e') this.runs.push(null);
      else if (!/[gpiImM\d \t]/.test(flag)) throw unexpected(flag);
    }
  }

  #transliteration(): void {
    const delimiter = this.#delimiter();
    this.#delimited(delimiter);
    this.#delimited(delimiter);
    this.#end();
  }

  /** Versions of sed disagree about a delimiter that is a backslash or not a single byte. */
  #delimiter(): string {
    const delimiter = this.#next();
    if (!/[ -[\]-~]/.test(delimiter)) throw new UnreadableScript(false);
    return delimiter;
  }

  #delimited(delimiter: string): void {
    for (let character = this.#next(); character !== delimiter; character = this.#next()) this.#passEscaped(character);
  }

  #expression(delimiter: string): void {
    for (let character = this.#next(); character !== delimiter; character = this.#next()) {
      if (character === '[' && this.#knowsBrackets) this.#brackets(delimiter);
      else this.#passEscaped(character);
    }
  }

  #passEscaped(character: string): void {
    if (character === '\n') throw new UnreadableScript(false);
    if (character === '\\') this.#next();
  }

  /** A bracket expression: a `]` that comes first belongs to it, and so does the one of a class (`[:alpha:]`). */
  #brackets(delimiter: string): void {
    const inside = this.#pass(/\^?\]?(?:\[:[a-z]+:\]|[^[\]\n]|\[(?![:.=]))*\]/y);
    if (inside === '') throw new UnreadableScript(false);
    this.hasDelimiterInBrackets ||= inside.includes(delimiter);
  }

  #run(): void {
    const command = this.#words();
    this.runs.push(command === '' || command.includes('\\') ? null : command);
  }

  /** The words up to the end of the line. A backslash continues it on the next line. */
  #words(): string {
    this.#blanks();
    return this.#pass(/(?:[^\\\n]|\\[\s\S])*\\?/y);
  }

  #label(): void {
    this.#blanks();
    this.#pass(/[\w.-]*/y);
    // Other characters belong to the label in one version of sed, and end it in another.
    if (this.#pass(/(?=[ \t\n;]|\}[ \t\n;}]|\}?$)/y, null) === null) throw new UnreadableScript(false);
  }

  #file(paths: string[]): void {
    this.#blanks();
    const path = this.#pass(/[^\n]*/y);
    if (path === '') throw new UnreadableScript(false);
    paths.push(path);
  }

  #blanks(): void {
    this.#pass(/[ \t]*/y);
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #next(): string {
    const character = this.#peek();
    if (character === '') throw new UnreadableScript(false);
    this.#at += 1;
    return character;
  }

  #pass<None extends string | null = string>(pattern: RegExp, none: None | '' = ''): string | None {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found ?? none;
  }
}

const unexpected = (character: string): UnreadableScript => new UnreadableScript(/[!-~]/.test(character));
