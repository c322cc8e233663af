import { textBlock } from './text-block.js';

/** A file's text as the model gets it. */
export const fileBlock = (name: string, text: string): string => textBlock('file', { name }, text);

/** The name and the text of a file in such a block, with the newline before its end; null for any other text. */
export function readFileBlock(text: string): { readonly name: string; readonly text: string } | null {
  const [start, tag = '', quoted = ''] = /^<(file(?:-\d{1,9})?) name=("(?:[^"\\\n]|\\[^\n])*")>\n/.exec(text) ?? [];
  const end = `\n</${tag}>`;
  if (start === undefined || text.length < start.length + end.length - 1 || !text.endsWith(end)) return null;
  try {
    return { name: String(JSON.parse(quoted)), text: text.slice(start.length, 1 - end.length) };
  } catch {
    return null;
  }
}
