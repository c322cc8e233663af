import { createNeutraliser } from './sanitize.js';
import type { Page, Paper } from './terminal-layout.js';

/** The running text of an answer on its way to the page. */
export interface Answer {
  /** While this is not null the text waits for colours to be loaded; whoever can wait should, or the code stays plain. */
  readonly loading: Promise<void> | null;
  push(piece: string): void;
  /** Something else will be written: a style that is on goes off until the answer goes on. */
  pause(): void;
  /** Writes what is held back and ends an unfinished line. The next piece begins a new text. */
  end(): void;
}

/** Makes the answers of one way of styling. */
export type CreateAnswer = (page: Page) => Answer;

/** An answer as `paper.out` wants it: the model's own bytes, or neutralised for a terminal, or styled as Markdown too, also in a pipe where colour is forced into it. */
export function createAnswer(paper: Paper, page: Page, styled: CreateAnswer | null): Answer {
  if (styled !== null && paper.colour.out) return styled(page);
  if (!paper.outIsTerminal) return { loading: null, push: page.answer, pause() {}, end: page.endAnswer };
  return createPlainAnswer(page);
}

function createPlainAnswer(page: Page): Answer {
  const neutraliser = createNeutraliser();
  return {
    loading: null,
    push: (piece) => page.answer(neutraliser.push(piece)),
    pause() {},
    end() {
      page.answer(neutraliser.end());
      page.endAnswer();
    },
  };
}
