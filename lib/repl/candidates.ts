import type { Candidate } from './line-completion.js';
import { display, widthOf } from './line-layout.js';

const MOST = 60;

/** The candidates as lines for the terminal: with summaries one a line, else in columns. */
export function listCandidates(candidates: readonly Candidate[], columns: number): string {
  const shown = candidates.slice(0, MOST);
  const more = candidates.length > MOST ? `\n… ${candidates.length - MOST} more` : '';
  return (shown.some(({ summary }) => summary) ? withSummaries(shown) : inColumns(shown, columns)) + more;
}

function withSummaries(candidates: readonly Candidate[]): string {
  const width = widest(candidates.map(({ text }) => text));
  return candidates.map(({ text, summary = '' }) => `${pad(text, width)} ${display(summary)}`.trimEnd()).join('\n');
}

function inColumns(candidates: readonly Candidate[], columns: number): string {
  const width = widest(candidates.map(({ text }) => text.trimEnd())) + 2;
  const across = Math.max(1, Math.floor(columns / width));
  const down = Math.ceil(candidates.length / across);
  const row = (line: number): string =>
    candidates
      .filter((_, index) => index % down === line)
      .map(({ text }) => pad(text.trimEnd(), width))
      .join('')
      .trimEnd();
  return Array.from({ length: down }, (_, line) => row(line)).join('\n');
}

const widest = (texts: readonly string[]): number => texts.reduce((width, text) => Math.max(width, widthOf(text)), 0);

const pad = (text: string, width: number): string => display(text) + ' '.repeat(Math.max(0, width - widthOf(text)));
