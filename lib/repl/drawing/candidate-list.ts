import type { Candidate } from '../completion/completion.js';
import { displayText, displayWidth } from './line-layout.js';

const MAX_SHOWN = 60;

/** Lists completion candidates: one per line when they have summaries, else in columns. */
export function formatCandidates(candidates: readonly Candidate[], columns: number): string {
  const shown = candidates.slice(0, MAX_SHOWN);
  const more = candidates.length > MAX_SHOWN ? `\n… ${candidates.length - MAX_SHOWN} more` : '';
  return (shown.some(({ summary }) => summary) ? formatList(shown) : formatColumns(shown, columns)) + more;
}

function formatList(candidates: readonly Candidate[]): string {
  const width = maxWidth(candidates.map(({ text }) => text));
  return candidates.map(({ text, summary = '' }) => `${pad(text, width)} ${displayText(summary)}`.trimEnd()).join('\n');
}

function formatColumns(candidates: readonly Candidate[], columns: number): string {
  const width = maxWidth(candidates.map(({ text }) => text.trimEnd())) + 2;
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

const maxWidth = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0);

const pad = (text: string, width: number): string =>
  displayText(text) + ' '.repeat(Math.max(0, width - displayWidth(text)));
