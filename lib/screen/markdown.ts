import { Fence } from './fence.js';
import type { Highlighter } from './highlight.js';
import { Inline } from './inline.js';
import { BLUE, BOLD, DIM, join, PLAIN, UNDERLINE } from './style.js';
import { StyledText } from './styled-text.js';

/** Finds the highlighter of a language: null when there is none, a promise when it has to be loaded first. */
export type FindHighlighter = (language: string) => Highlighter | null | Promise<Highlighter | null>;

/**
 * Markdown shown by style only: what it returns, less the styling, is the text that was pushed. The result does not depend on where the text was
 * cut: a mark whose meaning the next character decides is held back until that comes.
 */
export class Markdown {
  readonly #styled = new StyledText();
  readonly #inline = new Inline(this.#styled);
  readonly #find: FindHighlighter;
  #held = '';
  /** Whether what stands at the start of a line (marker, fence, heading) may still come. */
  #isAtStart = true;
  #fence: Fence | null = null;
  #loading: Promise<void> | null = null;

  constructor(find: FindHighlighter) {
    this.#find = find;
  }

  /** While a highlighter is being loaded, what is pushed is held back until this resolves. */
  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** Returns as much of what was pushed so far as can be shown. */
  push(text: string): string {
    this.#advance(this.#held + text, false);
    return this.#styled.take();
  }

  /** Returns what was held back; after it another text begins. */
  end(): string {
    this.#loading = null;
    this.#advance(this.#held, true);
    this.#held = '';
    this.#isAtStart = true;
    this.#fence = null;
    this.#inline.begin(PLAIN, false, '\n');
    this.#styled.pause();
    return this.#styled.take();
  }

  /** Returns what makes the text of others plain. */
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
    this.#held = at === 0 ? text : text.slice(at);
  }

  /** Shows what begins at `at`; returns where it ends, or `at` itself when that is not known yet. */
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
    const isWhole = newline !== -1 || isLast;
    const blank = /^[ \t]+/.exec(line)?.[0];
    if (blank !== undefined) return this.#show(at, blank, PLAIN);
    if (!isWhole && UNDECIDED.test(line)) return at;
    if (/^(?:-{3,}|\*{3,}|_{3,}|={3,}|\|[ \t:|-]*-[ \t:|-]*)[ \t]*\r?$/.test(line)) return this.#show(at, line, DIM);
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
    const found = language === '' ? null : this.#find(language.toLowerCase());
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

/** Beginnings of a line that may become something else with the next character. */
const UNDECIDED =
  /^(?:#{1,6}|[-+]|-{2,}|={1,}|\*+|_+|`+|~+|\d{1,9}[.)]?|`{3,}[^`]*|~{3,}.*|\|[ \t:|-]*|(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*)\r?$/;

const headingStyle = (marks: string): string => (marks.length <= 2 ? join(BOLD, UNDERLINE) : BOLD);
