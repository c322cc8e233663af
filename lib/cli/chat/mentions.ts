import { homedir } from 'node:os';
import type { Attachment, UserInput } from '../../session/deps.js';
import { readFileInput } from '../../session/files.js';

/** A stretch of a text that was pasted: an `@` in there is text and nothing else. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** `@path`, or `@"a path with blanks"`, at the beginning of a word. */
const MENTION = /(?<=^|\s)@(?:"([^"]+)"|([^\s"@][^\s]*))/g;

/**
 * A message with the files that `@path` names in it: texts stand before the words, images and PDFs go beside them.
 * Throws a `HiError` of code `usage` for a path that cannot be read, before anything is sent. `@name` without a dot or a slash that is no file is a name.
 */
export async function withMentions(text: string, pasted: readonly Span[], cwd: string): Promise<UserInput> {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const match of text.matchAll(MENTION)) {
    if (pasted.some(({ start, end }) => match.index >= start && match.index < end)) continue;
    const path = (match[1] ?? match[2] ?? '').replace(/^~(?=\/|$)/, homedir());
    const input = await readMention(path.replace(match[1] === undefined ? /[,;:!?)]+$/ : /$^/, ''), cwd);
    if (input === null) continue;
    if ('text' in input) texts.push(input.text);
    else attachments.push(input.attachment);
  }
  return { text, texts, attachments };
}

async function readMention(path: string, cwd: string) {
  try {
    return await readFileInput(path, cwd);
  } catch (thrown) {
    if (/[./]/.test(path)) throw thrown;
    return null;
  }
}
