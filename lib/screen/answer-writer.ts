import { createNeutraliser } from './sanitize.js';
import type { OutputStreams, TerminalLayout } from './terminal-layout.js';

/** The running text of an answer on its way to the page. */
export interface AnswerWriter {
  /** While this is not null the text waits for colours to be loaded; whoever can wait should, or the code stays plain. */
  readonly loading: Promise<void> | null;
  push(piece: string): void;
  /** Something else will be written: a style that is on goes off until the answer goes on. */
  pause(): void;
  /** Writes what is held back and ends an unfinished line. The next piece begins a new text. */
  end(): void;
}

/** Makes the answers of one way of styling. */
export type CreateAnswerWriter = (layout: TerminalLayout) => AnswerWriter;

/** An answer as `paper.out` wants it: the model's own bytes, or neutralised for a terminal, or styled as Markdown too, also in a pipe where colour is forced into it. */
export function createAnswerWriter(
  streams: OutputStreams,
  layout: TerminalLayout,
  styled: CreateAnswerWriter | null,
): AnswerWriter {
  if (styled !== null && streams.colour.out) return styled(layout);
  if (!streams.outIsTerminal) return { loading: null, push: layout.answer, pause() {}, end: layout.endAnswer };
  return createPlainAnswerWriter(layout);
}

function createPlainAnswerWriter(layout: TerminalLayout): AnswerWriter {
  const neutraliser = createNeutraliser();
  return {
    loading: null,
    push: (piece) => layout.answer(neutraliser.push(piece)),
    pause() {},
    end() {
      layout.answer(neutraliser.end());
      layout.endAnswer();
    },
  };
}
