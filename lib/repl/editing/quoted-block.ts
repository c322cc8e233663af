import { quotedInput } from '../../chat/text/quoted-input.js';
import { isMarked, type MarkedText, sliceMarked } from './edit-buffer.js';
import type { Span } from './long-pastes.js';

/** Whether the text starts with `"""` and does not end with a closing `"""`. Pasted quotes neither open nor close a block. */
export function isOpenBlock(input: MarkedText): boolean {
  const start = input.text.search(/\S/);
  const end = input.text.trimEnd().length;
  if (!input.text.startsWith('"""', start) || isMarked(input, start)) return false;
  return end - start < 6 || !input.text.startsWith('"""', end - 3) || isMarked(input, end - 1);
}

/** The text inside a quoted block, without the newlines next to the quotes. Returns any other text unchanged. */
export function blockText(input: MarkedText): MarkedText {
  const block = /^(\s*"""(?:\r?\n)?)(.*?)(?:\r?\n)?"""\s*$/s.exec(input.text);
  if (block === null || isOpenBlock(input) || isMarked(input, input.text.indexOf('"'))) return input;
  const [, opening = '', inside = ''] = block;
  return sliceMarked(input, opening.length, opening.length + inside.length);
}

/** Whether the text begins with a paste of several lines, which is never a command, however it begins. */
export function beginsWithPastedLines(text: string, pasted: readonly Span[]): boolean {
  const start = text.search(/\S/);
  const beginning = pasted.find((span) => span.start <= start && start < span.end);
  return beginning !== undefined && text.slice(beginning.start, beginning.end).trim().includes('\n');
}

/** A text for the input history, which does not know what was pasted: in quotes if it would be recalled as a command or as a block. */
export function recallable({ text, pasted }: { readonly text: string; readonly pasted: readonly Span[] }): string {
  return beginsWithPastedLines(text, pasted) ? quotedInput(text) : text;
}
