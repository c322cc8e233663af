import { LONGEST_ROW, PLAIN, type Run, type Style, StyledText, textWidth } from './styled-text.js';

/** How much room must be left for a word to continue, in columns, but at most a share of the row. */
const ROOM = 16;
const LARGEST_ROOM = 0.25;

/**
 * Wraps prose at words: a space becomes a newline, and continuation rows are indented like the first row's text. A
 * Markdown parser reads the same document from it: no row starts with a word that would start a block, and no row ends
 * with a backslash. Everything else is unchanged. In a heading, which a newline would end, a space becomes as many as
 * are left in the row, so that the terminal wraps it there. The last word waits until it is complete and the start of
 * the next one is known.
 */
export class WrappedText extends StyledText {
  readonly #columns: () => number;
  readonly #longestRow: number;
  #isProse = false;
  #isHeading = false;
  /** What each continuation row starts with, and its width. */
  #prefix: readonly Run[] = [];
  #indent = 0;
  #column = 0;
  /** Whether none of the line is written yet. */
  #isFirst = true;
  /** The words not written yet. The last one may grow. */
  #words: Word[] = [];
  /** Whether words wait for the next line, which may turn this one into the head of a table. */
  #isHeld = false;
  /** The index in `#words` of a bracket that may start a link; -1 if there is none. */
  #bracket = -1;

  /** `columns` returns the width of the terminal, infinite inside a cell; called for each word. */
  constructor(columns: () => number, hasColour = true, longestRow = LONGEST_ROW) {
    super(hasColour);
    this.#columns = columns;
    this.#longestRow = longestRow;
  }

  override beginProse(prefix: readonly Run[], column: number): void {
    this.#begin(column, false);
    const indent = prefix.reduce((sum, { text }) => sum + textWidth(text), 0);
    const isTooDeep = indent > this.#rowLength() / 2;
    this.#prefix = isTooDeep ? [] : prefix;
    this.#indent = isTooDeep ? 0 : indent;
  }

  override beginHeading(column: number): void {
    this.#begin(column, true);
    this.#indent = 0;
  }

  #begin(column: number, isHeading: boolean): void {
    this.#isProse = true;
    this.#isHeading = isHeading;
    this.#isFirst = true;
    this.#column = column;
    this.#words = [emptyWord('', '')];
    this.#bracket = -1;
    this.#isHeld = false;
  }

  override hold(): void {
    this.#isHeld = this.#isProse && !this.#isHeading;
  }

  override get isHeld(): boolean {
    return this.#isHeld;
  }

  override endTableHead(): void {
    this.#flush();
    this.#isProse = false;
    this.#isHeld = false;
  }

  override endProse(): void {
    if (!this.#isProse) return;
    this.#isHeld = false;
    this.#release(true);
    this.#isProse = false;
  }

  override put(text: string, style: Style): void {
    if (!this.#isProse) super.put(text, style);
    else {
      if (text.startsWith('](')) this.#joinLink();
      this.#append(text, style);
      this.#release(false);
    }
  }

  override putProse(text: string, style: Style): void {
    if (!this.#isProse) super.put(text, style);
    else {
      for (let at = 0; at < text.length; ) {
        const isBlank = isBlankAt(text, at);
        let end = at + 1;
        while (end < text.length && isBlankAt(text, end) === isBlank) end += 1;
        const piece = text.slice(at, end);
        if (isBlank) this.#appendBlank(piece, style);
        else {
          this.#appendProse(piece, style);
          this.#release(false);
        }
        at = end;
      }
    }
  }

  override endLine(): void {
    this.endProse();
    super.endLine();
  }

  /**
   * A written word cannot move to the next row later, so a word near the end of the row waits. If `isStale`, only one
   * that might start a block waits.
   */
  override settle(isStale: boolean): void {
    const blank = this.#words.at(-1)?.text === '' ? this.#words.pop() : undefined;
    const last = this.#words.at(-1);
    if (
      this.#isProse &&
      !this.#isHeld &&
      last !== undefined &&
      (this.#hasRoom() || (isStale && SAFE_START.test(last.text)))
    ) {
      const isFirst = this.#isFirst && this.#words.length === 1;
      this.#release(true);
      this.#isFirst = isFirst;
      this.#words = [emptyWord('', '', last.begun + last.text)];
    }
    if (blank !== undefined) this.#words.push(blank);
  }

  override pause(): void {
    this.#flush();
    super.pause();
  }

  #flush(): void {
    if (!this.#isProse) return;
    this.#release(true);
    this.#words = [emptyWord('', '')];
  }

  /** Whether all pending words fit in this row even if the last one grows. */
  #hasRoom(): boolean {
    const room = Math.min(ROOM, this.#rowLength() * LARGEST_ROOM);
    return !this.#isOver(this.#words.reduce((sum, { blank, text }) => sum + textWidth(blank.text + text), room));
  }

  /** Another writer ended the line: what follows starts a row. */
  override restartRow(): void {
    this.#column = 0;
  }

  /** Spaces may come in pieces. */
  #appendBlank(blank: string, style: Style): void {
    const last = this.#words.at(-1);
    if (last?.text === '' && last.begun === '') last.blank = { text: last.blank.text + blank, style };
    else this.#words.push(emptyWord(blank, style));
  }

  #appendProse(piece: string, style: Style): void {
    if (piece.includes('[')) this.#bracket = this.#words.length - 1;
    if (piece.includes(']') && piece.lastIndexOf(']') > piece.lastIndexOf('[')) this.#bracket = -1;
    this.#append(piece, style);
  }

  #append(text: string, style: Style): void {
    const word = this.#words.at(-1);
    if (word === undefined) return;
    addText(word, text, style);
    if (word.text.length > LONGEST_WORD) this.#flush();
  }

  /** Joins the words since the bracket, which are the text of a link and stay in one row. */
  #joinLink(): void {
    while (this.#bracket !== -1 && this.#words.length - 1 > this.#bracket) this.#joinAt(this.#bracket);
    this.#bracket = -1;
  }

  #joinAt(index: number): void {
    const [word, next] = [this.#words[index], this.#words[index + 1]];
    if (word === undefined || next === undefined) return;
    this.#words.splice(index, 2, joined(word, next));
    if (this.#bracket > index) this.#bracket -= 1;
  }

  /** Writes the words whose position is known; all of them at the end of a line. */
  #release(isEnd: boolean): void {
    if (this.#words.length < 2 && !isEnd) return;
    const isLong = isLongWait(this.#words);
    const isTooLong = isLong && !this.#isHeld;
    if (isLong) this.#isHeld = false;
    if (this.#isHeld && !isEnd) return;
    for (;;) {
      const { 0: word, 1: next, 2: third } = this.#words;
      if (word === undefined || (next === undefined && !isEnd)) return;
      if (next !== undefined && next.text === '' && isEnd) this.#joinAt(0);
      else if (next === undefined) this.#write();
      else {
        if (this.#bracket === 0 && !isEnd && !isTooLong) return;
        const isComplete = third !== undefined || isEnd;
        if (!isComplete && !SAFE_START.test(next.text) && !isTooLong) return;
        if (!isTooLong && ((isComplete && BEGINS_BLOCK.test(next.text)) || this.#mustNotEnd(word.begun + word.text)))
          this.#joinAt(0);
        else this.#write();
      }
    }
  }

  /** Whether a newline after this word would have a meaning of its own. */
  #mustNotEnd(text: string): boolean {
    return text.endsWith('\\') || (this.#isFirst && BEGINS_BLOCK.test(text));
  }

  /** Writes the first word, on a new row if it does not fit. */
  #write(): void {
    const word = this.#words.shift();
    if (word === undefined) return;
    if (this.#bracket >= 0) this.#bracket -= 1;
    const width = textWidth(word.text);
    const blank = textWidth(word.blank.text);
    if (
      !this.#isHeld &&
      blank > 0 &&
      this.#column > this.#indent &&
      this.#isOver(blank + width) &&
      !this.#mayOverflow(word.text)
    ) {
      this.#beginRow();
    } else {
      super.put(word.blank.text, word.blank.style);
      this.#column += blank;
    }
    this.#isFirst = false;
    for (const { text, style } of word.runs) super.put(text, style);
    this.#column += width;
    // The terminal wrapped it.
    if (this.#column > this.#columns()) this.#column %= this.#columns();
  }

  #beginRow(): void {
    if (this.#isHeading) {
      const left = Math.max(1, this.#columns() - this.#column);
      super.put(' '.repeat(left), PLAIN);
      this.#column += left - this.#columns();
    } else {
      super.endLine();
      for (const { text, style } of this.#prefix) super.put(text, style);
      this.#column = this.#indent;
    }
  }

  /**
   * Whether the terminal may break the word, which then needs no row of its own. In the cell of a table nothing may.
   */
  #mayOverflow(word: string): boolean {
    return SPACELESS.test(word) && Number.isFinite(this.#columns());
  }

  #isOver(width: number): boolean {
    return this.#column + width > this.#rowLength();
  }

  #rowLength(): number {
    // A space must be left in each row of a heading.
    return Math.min(this.#longestRow, this.#columns() - (this.#isHeading ? 1 : 0));
  }
}

/** A word of prose with the spaces before it. */
interface Word {
  blank: Run;
  runs: Run[];
  text: string;
  /** The part of it that is written already. */
  readonly begun: string;
}

/** Words that start a block at the start of a line (CommonMark, GFM). `<` is included because it usually does. */
const BEGINS_BLOCK = /^(?:[>|<]|[-*_][-*_ \t]*$|\+$|=+$|:?-+:?$|#{1,6}$|\d{1,9}[.)]$|`{3}|~{3}|\[[^\]]+\]:|\$\$)/;

/** First characters that none of these words has. */
const SAFE_START = /^[^-+*>|<#=_\d`~:[$]/;

/** A longer word is written before its end is known, in characters. */
const LONGEST_WORD = 4096;

/** Scripts written without spaces between words. */
const SPACELESS = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;

function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

const emptyWord = (text: string, style: Style, begun = ''): Word => ({
  blank: { text, style },
  runs: [],
  text: '',
  begun,
});

function addText(word: Word, text: string, style: Style): void {
  word.text += text;
  if (word.runs.length === 1 && word.runs[0]?.style === style) word.runs[0] = { text: word.text, style };
  else word.runs.push({ text, style });
}

const joined = (word: Word, next: Word): Word => ({
  blank: word.blank,
  runs: [...word.runs, next.blank, ...next.runs],
  text: word.text + next.blank.text + next.text,
  begun: word.begun,
});

/** How many characters may wait for the end of a link. */
const LONGEST_WAIT = 400;

function isLongWait(words: readonly Word[]): boolean {
  let length = 0;
  for (const { text } of words) length += text.length;
  return length > LONGEST_WAIT;
}
