import { Neutraliser } from './sanitize.js';
import type { OutputStreams, TerminalLayout } from './terminal-layout.js';

/** Writes the text of an answer as it arrives. */
export interface AnswerWriter {
  /** Resolves when the colours that the text waits for are loaded; null while it waits for none. A caller that cannot wait gets plain code. */
  readonly loading: Promise<void> | null;
  push(piece: string): void;
  /** Turns styling off before something else is written; it comes back with the next piece. */
  pause(): void;
  /** Writes what is pending and ends an unfinished line. The next piece begins a new text. */
  end(): void;
}

/** A way of styling answers. */
export type StyledWriter = new (layout: TerminalLayout) => AnswerWriter;

/** Chooses how an answer is written to `streams.out`: styled where there is colour, neutralised on a terminal, byte for byte in a pipe. */
export function createAnswerWriter(
  streams: OutputStreams,
  layout: TerminalLayout,
  Styled: StyledWriter | null,
): AnswerWriter {
  if (Styled !== null && streams.colour.out) return new Styled(layout);
  return streams.outIsTerminal ? new PlainAnswerWriter(layout) : new RawAnswerWriter(layout);
}

/** Writes the model's own bytes. */
class RawAnswerWriter implements AnswerWriter {
  readonly loading = null;
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

/** Writes text that is safe for a terminal, without styling. */
class PlainAnswerWriter implements AnswerWriter {
  readonly loading = null;
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
