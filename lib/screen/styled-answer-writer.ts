import type { AnswerStyle, AnswerWriter } from './answer-writer.js';
import type { Highlighter } from './markdown/languages.js';
import { loadHighlighter } from './markdown/languages.js';
import { Markdown } from './markdown/markdown.js';
import type { TerminalLayout } from './terminal-layout.js';
import { Neutraliser } from './text/neutralise.js';
import { StyledText } from './text/styled-text.js';
import { WrappedText } from './text/wrapped-text.js';

/** Writes an answer with styled, wrapped and aligned Markdown and coloured code, safe for a terminal. */
export class StyledAnswerWriter implements AnswerWriter {
  readonly #layout: TerminalLayout;
  readonly #style: AnswerStyle;
  readonly #neutraliser = new Neutraliser();
  #text: StyledText | null = null;
  #markdown: Markdown | null = null;
  #awaited: Promise<void> | null = null;
  #settling: readonly NodeJS.Timeout[] = [];

  constructor(layout: TerminalLayout, style: AnswerStyle) {
    this.#layout = layout;
    this.#style = style;
  }

  get loading(): Promise<void> | null {
    return this.#markdown?.loading ?? null;
  }

  get heldLines(): number {
    return this.#markdown?.heldLines ?? 0;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length; at += AT_ONCE)
      this.#show(this.#neutraliser.push(piece.slice(at, at + AT_ONCE)));
  }

  pause(): void {
    this.#stopSettling();
    if (this.#markdown !== null) this.#layout.writeAnswer(this.#markdown.pause());
  }

  end(): void {
    this.#stopSettling();
    const markdown = this.#begun();
    this.#layout.writeAnswer(markdown.push(this.#neutraliser.end()) + markdown.end());
    this.#layout.endAnswer();
    this.#markdown = null;
  }

  #show(text: string): void {
    const markdown = this.#begun();
    if (this.#layout.isAnswerAtLineStart) this.#text?.restartRow();
    this.#layout.writeAnswer(markdown.push(text));
    this.#settleLater();
    const { loading } = markdown;
    if (loading === this.#awaited) return;
    this.#awaited = loading;
    void loading?.then(() => {
      if (this.#markdown === markdown) this.#show('');
    });
  }

  /** If no text has come for a while, shows the words that wait for the next one. */
  #settleLater(): void {
    for (const timer of this.#settling) timer.refresh();
    if (this.#settling.length > 0) return;
    const settle = (isStale: boolean): void => this.#layout.writeAnswer(this.#markdown?.settle(isStale) ?? '');
    this.#settling = [setTimeout(settle, QUIET, false).unref(), setTimeout(settle, STALE, true).unref()];
  }

  #stopSettling(): void {
    for (const timer of this.#settling) clearTimeout(timer);
    this.#settling = [];
  }

  #begun(): Markdown {
    if (this.#markdown !== null) return this.#markdown;
    this.#text = styledText(this.#style);
    this.#markdown = markdownOn(this.#text, this.#style);
    return this.#markdown;
  }
}

/** A whole text as it looks when it has arrived as an answer. It must be neutralised. */
export async function renderMarkdown(text: string, style: AnswerStyle): Promise<string> {
  const markdown = markdownOn(styledText(style), style);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += AT_ONCE) {
    pieces.push(markdown.push(text.slice(at, at + AT_ONCE)));
    while (markdown.loading !== null) {
      await markdown.loading;
      pieces.push(markdown.push(''));
    }
  }
  return pieces.join('') + markdown.end();
}

/** A text without any style, its prose wrapped at words. */
export function wrapWords(text: string, style: AnswerStyle): string {
  const markdown = new Markdown(noHighlighter, styledText({ ...style, colour: false }));
  return markdown.push(text) + markdown.end();
}

function styledText({ colour, columns, wrap }: AnswerStyle): StyledText {
  return wrap() === 'word' ? new WrappedText(columns, colour) : new StyledText(colour);
}

function markdownOn(text: StyledText, { colour, columns, links, wrap }: AnswerStyle): Markdown {
  return new Markdown(colour ? findHighlighter : noHighlighter, text, wrap() === 'word' ? columns : null, links);
}

const AT_ONCE = 4096;

/**
 * How long to wait for more text before showing the last word: if it will stay in its row anyway, and in all cases.
 * Milliseconds.
 */
const QUIET = 100;
const STALE = 1500;

const noHighlighter = (): null => null;

const loaded = new Map<string, (() => Highlighter) | null>();

/** Languages stay loaded. The highlighting code is loaded with the first fence that names a language. */
function findHighlighter(language: string): Highlighter | null | Promise<Highlighter | null> {
  const known = loaded.get(language);
  if (known !== undefined) return known?.() ?? null;
  return loadHighlighter(language).then((create) => {
    loaded.set(language, create);
    return create?.() ?? null;
  });
}
