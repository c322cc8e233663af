import type { ScreenSettings, WrapMode } from '../chat/event.js';
import type { JsonObject, JsonValue } from '../chat/json.js';
import { monotonic } from '../waits.js';
import { type Highlighter, loadHighlighter } from './markdown/languages.js';
import { Markdown } from './markdown/markdown.js';
import type { OutputStreams, TerminalLayout } from './terminal-layout.js';
import { Neutraliser } from './text/neutralise.js';
import { StyledText } from './text/styled-text.js';
import { WrappedText } from './text/wrapped-text.js';

/** Writes the text of an answer as it arrives. */
export interface AnswerWriter {
  /**
   * Resolves when the highlighter that pending text waits for is loaded; null if there is none. A caller that cannot
   * wait gets plain code.
   */
  readonly loading: Promise<void> | null;
  /** How many lines of an unfinished table are held back. */
  readonly heldLines: number;
  push(piece: string): void;
  /** Turns styling off before something else is written. The next piece turns it on again. */
  pause(): void;
  /** Writes what is pending and ends an unfinished line. The next piece starts a new text. */
  end(): void;
}

/** How a styled answer looks. */
export interface AnswerStyle {
  readonly colour: boolean;
  /** Whether addresses are links for the terminal (OSC 8). */
  readonly links: boolean;
  /** The width of the terminal. */
  columns(): number;
  /** Called once per text. */
  wrap(): WrapMode;
}

/** A way of styling answers. */
type StyledWriter = new (layout: TerminalLayout, style: AnswerStyle) => AnswerWriter;

/**
 * Chooses how an answer is written to `streams.out`: styled if there is colour and the terminal can move its cursor,
 * neutralised on any terminal. In a pipe it is the model's text with one newline at its end, or with `exact` byte for
 * byte.
 */
export function createAnswerWriter(
  streams: OutputStreams,
  layout: TerminalLayout,
  Styled: StyledWriter | null,
  wrap: () => WrapMode,
  exact: boolean,
): AnswerWriter {
  const { outIsTerminal, columns } = streams;
  if (Styled !== null && (outIsTerminal || streams.colour.out))
    return new Styled(layout, {
      colour: streams.colour.out,
      links: outIsTerminal && streams.links === true,
      columns,
      wrap: outIsTerminal ? wrap : () => 'terminal',
    });
  if (streams.outIsTerminal) return new PlainAnswerWriter(layout);
  return exact ? new ExactAnswerWriter(layout) : new PipedAnswerWriter(layout);
}

/** Writes the model's own bytes. */
class ExactAnswerWriter implements AnswerWriter {
  readonly loading = null;
  readonly heldLines = 0;
  readonly #layout: TerminalLayout;

  constructor(layout: TerminalLayout) {
    this.#layout = layout;
  }

  push(piece: string): void {
    this.#layout.writeAnswer(piece);
  }

  pause(): void {}

  end(): void {
    this.#layout.endAnswer();
  }
}

/** Writes the model's text with exactly one newline at its end. */
class PipedAnswerWriter implements AnswerWriter {
  readonly loading = null;
  readonly heldLines = 0;
  readonly #layout: TerminalLayout;
  /** The newlines that are written only if more text follows them. */
  #newlines = '';

  constructor(layout: TerminalLayout) {
    this.#layout = layout;
  }

  push(piece: string): void {
    const text = this.#newlines + piece;
    let end = text.length;
    while (text[end - 1] === '\n') end -= 1;
    this.#newlines = text.slice(end);
    this.#layout.writeAnswer(text.slice(0, end));
  }

  pause(): void {}

  end(): void {
    this.#newlines = '';
    this.#layout.endAnswer();
  }
}

/** Writes text that is safe for a terminal, without styling. */
class PlainAnswerWriter implements AnswerWriter {
  readonly loading = null;
  readonly heldLines = 0;
  readonly #layout: TerminalLayout;
  readonly #neutraliser = new Neutraliser();

  constructor(layout: TerminalLayout) {
    this.#layout = layout;
  }

  push(piece: string): void {
    this.#layout.writeAnswer(this.#neutraliser.push(piece));
  }

  pause(): void {}

  end(): void {
    this.#layout.writeAnswer(this.#neutraliser.end());
    this.#layout.endAnswer();
  }
}

/**
 * How much text may wait, in characters. More is passed on before the frame ends, so that an endless answer cannot fill
 * the memory.
 */
const MOST_PENDING = 16_384;

/**
 * Collects the pieces of an answer that arrive within one frame: styling them together costs a fraction of styling each
 * one.
 */
export class AnswerPacer {
  readonly #answer: AnswerWriter;
  readonly #frame: number;
  #pending = '';
  #timer: NodeJS.Timeout | null = null;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** Passes pieces on to `answer` at most once per `frame` milliseconds; immediately if that is 0. */
  constructor(answer: AnswerWriter, frame: number) {
    this.#answer = answer;
    this.#frame = frame;
  }

  push(piece: string): void {
    this.#pending += piece;
    if (this.#pending.length > MOST_PENDING) {
      this.flush();
      return;
    }
    if (this.#timer !== null) return;
    const wait = this.#frame === 0 ? 0 : this.#shownAt + this.#frame - monotonic();
    if (wait <= 0) this.flush();
    else this.#timer = setTimeout(() => this.flush(), wait);
  }

  /** Passes on what is pending. Call it before showing anything else. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    if (this.#frame > 0) this.#shownAt = monotonic();
    this.#answer.push(text);
  }
}

/** How a screen shows what happens. */
export interface ScreenOptions {
  /** Only answers, warnings and errors. */
  readonly quiet: boolean;
  /** How answers are styled (`StyledAnswerWriter`); null leaves them plain. */
  readonly styled: StyledWriter | null;
  /** Read for each answer. Absent means the defaults. */
  readonly settings?: Readonly<ScreenSettings>;
  /**
   * Whether the model's thinking is shown, dimmed, or folded into one line with its duration. If false, it is only
   * counted.
   */
  readonly thinking: boolean | 'folded';
  /** Whether the tokens of each request are shown. */
  readonly usage?: boolean;
  /** The sequence that makes the terminal show an image, null if it cannot. Absent if no images are shown. */
  readonly inlineImage?: (path: string, mime: string) => string | null | Promise<string | null>;
  /** Whether the pages that an answer cites are listed under it; true if absent. */
  readonly sources?: boolean;
  /** Whether a terminal gets a waiting line; true if absent. */
  readonly waiting?: boolean;
  /** Whether an empty line separates an answer from its question; false if absent. */
  readonly gap?: boolean;
  now(): number;
  /** Whether an answer in a pipe is exactly the model's bytes; if false or absent it ends with one newline. */
  readonly exact?: boolean;
  /** Whether an empty line separates answers written before and after `close`; false if absent. */
  readonly separate?: boolean;
  /** Describes a tool call in one line. Without it, the name and the arguments are shown. */
  readonly describe?: (name: string, args: JsonObject) => string;
  /** Summarises the result of a tool call in a few words; empty if there is nothing to say. */
  readonly found?: (result: JsonValue) => string;
}

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
