import { readFile, stat } from 'node:fs/promises';
import { detectEncoding } from '../shell/decode-text.js';

/** Above this size a diff takes too long, and is too long to read. */
const MAX_DIFF_SIZE = 2 * 1024 * 1024;

/** What writing `content` to `path` would change: a unified diff, or if there is none, a sentence with the whole new content. Never throws. */
export async function changePreview(path: string, content: string): Promise<string> {
  const before = await readBefore(path);
  if (before.kind === 'other') return withContent(`${before.what} would be replaced by ${size(content)}.`, content);
  if (before.text.length + content.length > MAX_DIFF_SIZE)
    return withContent(`Too large for a diff: ${size(content)} would be written.`, content);
  if (before.text === content) return 'No changes.';
  const { createTwoFilesPatch } = await import('diff');
  const old = before.kind === 'missing' ? '/dev/null' : path;
  const patch = createTwoFilesPatch(old, path, before.text, content, undefined, undefined, {
    context: 3,
    timeout: 2000,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  return patch ?? withContent(`Too different for a diff: ${size(content)} would be written.`, content);
}

/** The user can only approve what they can see, so the preview shows all of it, marked as new lines of a diff. */
const withContent = (sentence: string, content: string): string => `${sentence}\n\n${content.replace(/^/gm, '+')}`;

type Before =
  | { readonly kind: 'missing'; readonly text: '' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'other'; readonly what: string };

async function readBefore(path: string): Promise<Before> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return { kind: 'other', what: 'Something that is not a file' };
    if (found.size > MAX_DIFF_SIZE) return { kind: 'other', what: `The file of ${found.size} bytes` };
    const bytes = await readFile(path);
    const encoding = await detectEncoding(bytes, true);
    if (encoding.kind === 'binary') return { kind: 'other', what: `The ${encoding.what} of ${found.size} bytes` };
    return { kind: 'text', text: new TextDecoder(encoding.name).decode(bytes) };
  } catch {
    return { kind: 'missing', text: '' };
  }
}

function size(content: string): string {
  return `${count(content.split('\n').length, 'line')} (${count(content.length, 'character')})`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
