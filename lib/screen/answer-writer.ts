import type { WrapMode } from '../chat/screen-settings.js';
import type { OutputStreams, TerminalLayout } from './terminal-layout.js';
import { Neutraliser } from './text/neutralise.js';

/** Writes the text of an answer as it arrives. */
export interface AnswerWriter {
  /** Resolves when the highlighter that pending text waits for is loaded; null if there is none. A caller that cannot wait gets plain code. */
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
export type StyledWriter = new (layout: TerminalLayout, style: AnswerStyle) => AnswerWriter;

/**
 * Chooses how an answer is written to `streams.out`: styled if there is colour and the terminal can move its cursor, neutralised on
 * any terminal. In a pipe it is the model's text with one newline at its end, or with `exact` byte for byte.
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
