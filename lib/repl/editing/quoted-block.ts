import { isMarked, type MarkedText, sliceMarked } from './edit-buffer.js';

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
