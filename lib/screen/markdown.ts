import { Fence } from './fence.js';
import type { Highlighter } from './highlight.js';
import { Inline } from './inline.js';
import { BLUE, BOLD, combine, DIM, PLAIN, UNDERLINE } from './style.js';
import { StyledText } from './styled-text.js';

/** Finds the highlighter of a language: null when there is none, a promise when it must be loaded first. */
export type FindHighlighter = (language: string) => Highlighter | null | Promise<Highlighter | null>;

/**
 * Shows Markdown by style only: without the styling, the result is the text that was pushed. It does not depend on where the text was cut: a mark whose
 * meaning depends on the next character stays pending until that arrives.
 */
export class Markdown {
  readonly #styled = new StyledText();
  readonly #inline = new Inline(this.#styled);
  readonly #findHighlighter: FindHighlighter;
  #pending = '';
  /** Whether a block mark (list marker, fence, heading) may still come on this line. */
  #isAtStart = true;
  #fence: Fence | null = null;
  #loading: Promise<void> | null = null;

  constructor(find: FindHighlighter) {
    this.#findHighlighter = find;
  }

  /** While a highlighter is being loaded, pushed text stays pending until this resolves. */
  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** Returns the pending and the pushed text as far as it can be shown. */
  push(text: string): string {
    this.#advance(this.#pending + text, false);
    return this.#styled.take();
  }

  /** Returns the pending text. The next piece begins a new text. */
  end(): string {
    this.#loading = null;
    this.#advance(this.#pending, true);
    this.#pending = '';
    this.#isAtStart = true;
    this.#fence = null;
    this.#inline.begin(PLAIN, false, '\n');
    this.#styled.pause();
    return this.#styled.take();
  }

  /** Returns what makes plain the text that others write next. */
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

  /** Shows what begins at `at`. Returns where it ends, or `at` itself while that is not known. */
  #step(text: string, at: number, isLast: boolean): number {
    if (this.#fence !== null) {
      const end = this.#fence.scan(text, at, isLast);
      if (this.#fence.isClosed) this.#fence = null;
      return end;
    }
    if (text[at] === '\n') {
      this.#styled.endLine();
      this.#isAtStart = true;
      return at + 1;
    }
    return this.#isAtStart ? this.#scanStart(text, at, isLast) : this.#inline.scan(text, at, isLast);
  }

  #scanStart(text: string, at: number, isLast: boolean): number {
    const newline = text.indexOf('\n', at);
    const line = text.slice(at, newline === -1 ? text.length : newline);
    const isComplete = newline !== -1 || isLast;
    const blank = /^[ \t]+/.exec(line)?.[0];
    if (blank !== undefined) return this.#show(at, blank, PLAIN);
    if (!isComplete && UNDECIDED.test(line)) return at;
    if (/^(?:(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*|\|(?=[^-]*-)[ \t:|-]*)\r?$/.test(line))
      return this.#show(at, line, DIM);
    const marker = /^(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/.exec(line)?.[0];
    if (marker !== undefined) return this.#show(at, marker, marker === '>' ? DIM : BLUE);
    const fence = /^(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/.exec(line);
    if (fence !== null) return this.#openFence(at, line, fence[1] ?? '', fence[2] ?? '');
    const heading = /^#{1,6}(?=[ \t]|$)/.exec(line)?.[0];
    this.#isAtStart = false;
    this.#inline.begin(heading === undefined ? PLAIN : headingStyle(heading), line.startsWith('|'), '\n');
    return this.#inline.scan(text, at, isLast);
  }

  #openFence(at: number, line: string, marks: string, language: string): number {
    this.#styled.put(line, DIM);
    this.#fence = new Fence(this.#styled, marks);
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

/** Matches a beginning of a line whose meaning depends on the next character. */
const UNDECIDED =
  /^(?:#{1,6}|[-+]|-{2,}|={1,}|\*+|_+|`+|~+|\d{1,9}[.)]?|`{3,}[^`]*|~{3}.*|\|[ \t:|-]*|(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*)\r?$/;

const headingStyle = (marks: string): string => (marks.length <= 2 ? combine(BOLD, UNDERLINE) : BOLD);
