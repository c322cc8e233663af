import { BLUE, BOLD, combine, DIM, PLAIN, type StyledText, UNDERLINE } from '../text/styled-text.js';
import { BlockLines, CODE_INDENT, Fence, LineStartReader } from './blocks.js';
import { Inline } from './inline.js';
import type { Highlighter } from './languages.js';
import { isAboveDashes, Table } from './table.js';

/** Finds the highlighter of a language: null if there is none, a promise if it must be loaded first. */
type FindHighlighter = (language: string) => Highlighter | null | Promise<Highlighter | null>;

/**
 * Styles Markdown, and wraps and aligns it if `styled` does. Without either, the output is the input. The output does
 * not depend on how the text was split: text whose meaning depends on what follows stays pending until that arrives.
 */
export class Markdown {
  readonly #styled: StyledText;
  readonly #inline: Inline;
  #lines = new BlockLines();
  readonly #findHighlighter: FindHighlighter;
  #pending = '';
  /** The start of the line, which is shown already. */
  #start = new LineStartReader();
  /** Whether a block mark (list marker, fence, heading) may still come on this line. */
  #isAtStart = true;
  #fence: Fence | null = null;
  #table: Table | null = null;
  readonly #columns: (() => number) | null;
  readonly #links: boolean;
  #loading: Promise<void> | null = null;

  /** With `columns`, tables are held back until they are complete, and aligned. */
  constructor(find: FindHighlighter, styled: StyledText, columns: (() => number) | null = null, links = false) {
    this.#findHighlighter = find;
    this.#styled = styled;
    this.#columns = columns;
    this.#links = links;
    this.#inline = new Inline(styled, links);
  }

  /** How many lines of an unfinished table are held back. */
  get heldLines(): number {
    return this.#table?.length ?? 0;
  }

  /** While a highlighter is being loaded, pushed text stays pending until this resolves. */
  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** Returns as much of the pending and the pushed text as can be shown. */
  push(text: string): string {
    this.#advance(this.#pending + text, false);
    return this.#styled.take();
  }

  /** Returns the pending text. The next piece starts a new text. */
  end(): string {
    this.#loading = null;
    this.#advance(this.#pending, true);
    if (this.#table !== null) this.#showTable(this.#table);
    this.#pending = '';
    this.#beginLine();
    this.#fence = null;
    this.#lines = new BlockLines();
    this.#inline.begin(PLAIN, false, '\n');
    this.#styled.endProse();
    this.#styled.pause();
    return this.#styled.take();
  }

  /** Returns the words that only wait for the next word; `isStale` if no text has come for a while. */
  settle(isStale: boolean): string {
    this.#styled.settle(isStale);
    return this.#styled.take();
  }

  /** Returns the sequence that makes text written by others plain. */
  pause(): string {
    this.#styled.pause();
    return this.#styled.take();
  }

  #advance(text: string, isLast: boolean): void {
    let at = 0;
    while (at < text.length && this.#loading === null) {
      const end = this.#step(text, at, isLast);
      if (end === at) break;
      at = end;
    }
    this.#pending = at === 0 ? text : text.slice(at);
  }

  /** Shows what starts at `at`. Returns where it ends, or `at` itself while that is not known. */
  #step(text: string, at: number, isLast: boolean): number {
    if (this.#fence !== null) {
      const end = this.#fence.scan(text, at, isLast);
      if (this.#fence.isClosed) this.#fence = null;
      return end;
    }
    if (this.#table !== null) return this.#scanTable(this.#table, text, at, isLast);
    if (text[at] === '\n') return this.#endLine(text, at, isLast);
    return this.#isAtStart ? this.#scanStart(text, at, isLast) : this.#inline.scan(text, at, isLast);
  }

  #endLine(text: string, at: number, isLast: boolean): number {
    const isHead = this.#styled.isHeld ? isAboveDashes(text, at + 1, isLast) : false;
    if (isHead === null) return at;
    if (isHead) this.#styled.endTableHead();
    if (this.#isAtStart) this.#lines.addBlank();
    this.#styled.endLine();
    this.#beginLine();
    return at + 1;
  }

  #scanStart(text: string, at: number, isLast: boolean): number {
    const newline = text.indexOf('\n', at);
    const line = text.slice(at, Math.min(newline === -1 ? text.length : newline, at + MOST_PENDING));
    const isComplete = newline !== -1 || isLast || line.length === MOST_PENDING;
    const blank = /^[ \t]+/.exec(line)?.[0];
    if (blank !== undefined) return this.#showBlank(at, blank);
    if (!isComplete && UNDECIDED.test(line)) return at;
    if (/^(?:(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*|\|(?=[^-]*-)[ \t:|-]*)\r?$/.test(line)) return this.#showRule(at, line);
    const marker = /^(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/.exec(line)?.[0];
    if (marker !== undefined) return this.#showMark(at, marker);
    const fence = /^(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/.exec(line);
    if (fence !== null) return this.#openFence(at, line, fence[1] ?? '', fence[2] ?? '');
    const heading = /^#{1,6}(?=[ \t]|$)/.exec(line)?.[0];
    const isRow = line.startsWith('|');
    if (isRow && this.#columns !== null && !this.#start.hasMark) {
      this.#table = new Table();
      this.#lines.addOther(this.#start.start);
      return this.#scanTable(this.#table, text, at, isLast);
    }
    this.#isAtStart = false;
    this.#inline.begin(heading === undefined ? PLAIN : headingStyle(heading), isRow, '\n');
    if (heading === undefined && !isRow) this.#beginText(line);
    else this.#beginOther(heading !== undefined);
    return this.#inline.scan(text, at, isLast);
  }

  #beginText(line: string): void {
    const { start, prefix } = this.#start;
    if (line === '\r') this.#lines.addBlank();
    else if (this.#lines.isProse(start, line)) this.#styled.beginProse(prefix, start.column);
  }

  #beginOther(isHeading: boolean): void {
    const { start } = this.#start;
    this.#lines.addOther(start);
    if (isHeading && start.indent < CODE_INDENT) this.#styled.beginHeading(start.column);
  }

  #showRule(at: number, line: string): number {
    this.#lines.addOther(this.#start.start);
    return this.#show(at, line, DIM);
  }

  #beginLine(): void {
    this.#isAtStart = true;
    this.#start = new LineStartReader();
  }

  /** Collects the lines of a table, and shows them when the table ends. */
  #scanTable(table: Table, text: string, at: number, isLast: boolean): number {
    const mayGrow = !isLast && text.length - at <= MOST_PENDING && !text.includes('\n', at);
    return mayGrow && /^[ \t]*(?:\||$)/.test(text.slice(at)) ? at : this.#endTableLine(table, text, at, isLast);
  }

  #endTableLine(table: Table, text: string, at: number, isLast: boolean): number {
    const newline = text.indexOf('\n', at);
    const isEnded = newline !== -1;
    const line = text.slice(at, isEnded ? newline : text.length);
    if (line.length > MOST_PENDING) return this.#showLongRow(table, text, at, isLast);
    const row = /^([ \t]*)(\|.*)$/.exec(line);
    if (row === null) {
      this.#showTable(table);
      return this.#step(text, at, isLast);
    }
    table.add({ indent: row[1] ?? '', text: row[2] ?? '', isEnded });
    if (table.isOver) this.#showTable(table);
    return isEnded ? newline + 1 : text.length;
  }

  /** A row too long for any terminal ends the table. */
  #showLongRow(table: Table, text: string, at: number, isLast: boolean): number {
    this.#showTable(table);
    this.#isAtStart = false;
    this.#inline.begin(PLAIN, text[at] === '|', '\n');
    return this.#inline.scan(text, at, isLast);
  }

  #showTable(table: Table): void {
    this.#table = null;
    table.write(this.#styled, this.#columns?.() ?? 0, this.#links);
    this.#beginLine();
  }

  #showBlank(at: number, blank: string): number {
    this.#start.addBlank(blank);
    return this.#show(at, blank, PLAIN);
  }

  #showMark(at: number, mark: string): number {
    const style = mark === '>' ? DIM : BLUE;
    this.#start.addMark(mark, style);
    return this.#show(at, mark, style);
  }

  #openFence(at: number, line: string, marks: string, language: string): number {
    this.#styled.put(line, DIM);
    this.#fence = new Fence(this.#styled, marks);
    this.#lines.addOther(this.#start.start);
    const found = language === '' ? null : this.#findHighlighter(language.toLowerCase());
    if (found instanceof Promise) this.#load(found, this.#fence);
    else this.#fence.highlighter = found;
    return at + line.length;
  }

  #load(highlighter: Promise<Highlighter | null>, fence: Fence): void {
    const loading = highlighter.then((found) => {
      fence.highlighter = found;
      if (this.#loading === loading) this.#loading = null;
    });
    this.#loading = loading;
  }

  #show(at: number, text: string, style: string): number {
    this.#styled.put(text, style);
    return at + text.length;
  }
}

/** How much of a line may wait for what follows it, in characters. */
const MOST_PENDING = 16_384;

/** Matches the start of a line whose meaning depends on the next character. */
const UNDECIDED =
  /^(?:#{1,6}|[-+]|-{2,}|={1,}|\*+|_+|`+|~+|\d{1,9}[.)]?|`{3,}[^`]*|~{3}.*|\|[ \t:|-]*|[<$\\]|:-*:?[ \t]*|-+:[ \t]*|(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*)\r?$/;

const headingStyle = (marks: string): string => (marks.length <= 2 ? combine(BOLD, UNDERLINE) : BOLD);
