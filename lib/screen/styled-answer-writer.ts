import type { AnswerWriter } from './answer-writer.js';
import type { Highlighter } from './highlight.js';
import { Markdown } from './markdown.js';
import { createNeutraliser } from './sanitize.js';
import type { TerminalLayout } from './terminal-layout.js';

/** The running text of an answer, styled as Markdown for a terminal. */
export function createStyledAnswerWriter(layout: TerminalLayout): AnswerWriter {
  const neutraliser = createNeutraliser();
  const markdown = new Markdown(findHighlighter);
  let awaited: Promise<void> | null = null;

  function show(text: string): void {
    layout.answer(markdown.push(text));
    if (markdown.loading === awaited) return;
    awaited = markdown.loading;
    void awaited?.then(() => show(''));
  }

  return {
    get loading() {
      return markdown.loading;
    },
    push: (piece) => show(neutraliser.push(piece)),
    pause: () => layout.answer(markdown.pause()),
    end() {
      layout.answer(markdown.push(neutraliser.end()) + markdown.end());
      layout.endAnswer();
    },
  };
}

const loaded = new Map<string, (() => Highlighter) | null>();

/** Languages stay loaded; the part of the program that colours code is read with the first fence that names a language. */
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
