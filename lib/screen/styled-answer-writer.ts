import type { AnswerWriter } from './answer-writer.js';
import type { Highlighter } from './highlight.js';
import { Markdown } from './markdown.js';
import { Neutraliser } from './sanitize.js';
import type { TerminalLayout } from './terminal-layout.js';

/** Writes an answer with its Markdown styled and its code coloured, safe for a terminal. */
export class StyledAnswerWriter implements AnswerWriter {
  readonly #layout: TerminalLayout;
  readonly #neutraliser = new Neutraliser();
  readonly #markdown = new Markdown(findHighlighter);
  #awaited: Promise<void> | null = null;

  constructor(layout: TerminalLayout) {
    this.#layout = layout;
  }

  get loading(): Promise<void> | null {
    return this.#markdown.loading;
  }

  push(piece: string): void {
    this.#show(this.#neutraliser.push(piece));
  }

  pause(): void {
    this.#layout.writeAnswer(this.#markdown.pause());
  }

  end(): void {
    this.#layout.writeAnswer(this.#markdown.push(this.#neutraliser.end()) + this.#markdown.end());
    this.#layout.endAnswer();
  }

  #show(text: string): void {
    this.#layout.writeAnswer(this.#markdown.push(text));
    const { loading } = this.#markdown;
    if (loading === this.#awaited) return;
    this.#awaited = loading;
    void loading?.then(() => this.#show(''));
  }
}

const loaded = new Map<string, (() => Highlighter) | null>();

/** Languages stay loaded. The part of the program that colours code is loaded with the first fence that names a language. */
function findHighlighter(language: string): Highlighter | null | Promise<Highlighter | null> {
  const known = loaded.get(language);
  if (known !== undefined) return known?.() ?? null;
  return import('./highlight.js')
    .then(({ loadHighlighter }) => loadHighlighter(language))
    .then((create) => {
      loaded.set(language, create);
      return create?.() ?? null;
    });
}
