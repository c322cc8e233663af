import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { estimateTokens } from '../../chat/request.js';
import { quantity, sizeText } from '../../chat/text.js';
import { systemCode } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/common/deps.js';
import { type FileInput, listFolder, readFileInput } from '../../session/input.js';

/** A message with the files it mentions, and a notice about them for the user, null if it mentions none. */
interface ResolvedMessage {
  readonly input: UserInput;
  readonly notice: string | null;
}

/** A resource of an MCP server as sent to the model, and its label in the notice. */
export interface AttachedResource {
  readonly label: string;
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
}

/** What mentions need in addition to the disk. */
export interface MentionDeps {
  /** Fetches a web address. Without it, addresses are ordinary text. */
  readonly fetch?: (address: string) => Promise<FileInput>;
  /** The MCP resource that a word names, given its possible readings; null if it does not start with a server. */
  readonly resource?: (words: readonly string[], signal: AbortSignal) => Promise<AttachedResource> | null;
  /** Called with the word about to be attached, so that a failure can point to it. */
  readonly begin?: (word: string) => void;
}

/** A file or folder as sent to the model, and its label in the notice. */
type Attached = { readonly label: string } & (
  | { readonly text: string }
  | { readonly attachment: Attachment }
  | AttachedResource
);

/**
 * Attaches the files and folders named as `@path`, and pages at `@https://…`: texts and listings go before the message,
 * images and PDFs with it. A word that does not name a file stays text. Throws a `HiError` of code `usage` for a file
 * that exists and cannot be attached, before anything is sent.
 */
export async function resolveMentions(
  text: string,
  pasted: readonly MentionSpan[],
  cwd: string,
  signal: AbortSignal,
  { fetch, resource, begin }: MentionDeps = {},
): Promise<ResolvedMessage> {
  const attached = new Map<string, Attached>();
  const unknown = new Set<string>();
  for (const { word, paths } of mentionsIn(text, pasted)) {
    if (fetch !== undefined && /^https?:\/\/[^/]/i.test(word)) {
      begin?.(word);
      attached.set(word, { ...(await fetch(word)), label: word });
      continue;
    }
    const named = resource?.(
      paths.map(({ path }) => path),
      signal,
    );
    if (named) {
      begin?.(word);
      const found = await named;
      attached.set(found.label, found);
      continue;
    }
    const path = await firstExisting(paths, cwd);
    if (path === null) {
      if (looksLikePath(word)) unknown.add(`@${word}`);
      continue;
    }
    const absolute = resolve(cwd, path);
    begin?.(word);
    if (!attached.has(absolute)) attached.set(absolute, await attach(path, cwd, signal));
  }
  const all = [...attached.values()];
  const texts = all.flatMap((one) => ('text' in one ? [one.text] : 'texts' in one ? one.texts : []));
  const attachments = all.flatMap((one) =>
    'attachment' in one ? [one.attachment] : 'attachments' in one ? one.attachments : [],
  );
  return { input: { text, texts, attachments }, notice: noticeOf(all, [...unknown]) };
}

/** The files and folders that a text names as `@path`, and that are not among `given`. */
export async function filesMentioned(text: string, given: readonly string[], cwd: string): Promise<readonly string[]> {
  const attached = new Set(given.map((path) => resolve(cwd, path)));
  const found = new Set<string>();
  for (const { paths } of mentionsIn(text, [])) {
    const path = await firstExisting(paths, cwd);
    if (path !== null && !attached.has(resolve(cwd, path))) found.add(path);
  }
  return [...found];
}

const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, () => homedir());

/**
 * If none exists, a path without read permission counts as existing, so that the user learns why it cannot be attached.
 */
async function firstExisting(paths: readonly MentionedPath[], cwd: string): Promise<string | null> {
  let denied: string | null = null;
  for (const { path: typed, fileOnly } of paths) {
    const path = fromHome(typed);
    try {
      const stats = await stat(resolve(cwd, path));
      if (!fileOnly || stats.isFile()) return path;
    } catch (cause) {
      if (['EACCES', 'EPERM'].includes(systemCode(cause) ?? '')) denied = path;
    }
  }
  return denied;
}

async function attach(path: string, cwd: string, signal: AbortSignal): Promise<Attached> {
  const listing = await listFolder(path, cwd);
  if (listing !== null) {
    return { text: listing.text, label: `${path} (folder, ${quantity(listing.entries, 'entry', 'entries')})` };
  }
  const input = await readFileInput(path, { cwd, pipes: false, signal });
  if ('text' in input) {
    return { ...input, label: `${path} (${quantity(estimateTokens(input.text.length), 'token')})` };
  }
  const { kind, bytes } = input.attachment;
  return { ...input, label: `${path} (${kind}, ${sizeText(bytes.length)})` };
}

/** How many names the notice has room for. */
const MAX_NAMES = 5;

const joinNames = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;

function noticeOf(attached: readonly Attached[], unknown: readonly string[]): string | null {
  const parts = [
    attached.length > 0 ? `attached ${joinNames(attached.map(({ label }) => label))}` : '',
    unknown.length > 0 ? `sent as text, no such file: ${joinNames(unknown)}` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : parts.join(' · ');
}

/** A pasted range of a text, in which an `@` is ordinary text. */
interface MentionSpan {
  readonly start: number;
  readonly end: number;
}

/** A path that a word may refer to. */
interface MentionedPath {
  readonly path: string;
  /**
   * Whether it counts only if it is a file: what follows it in the word would be odd after a folder, and is common in
   * code.
   */
  readonly fileOnly: boolean;
}

/** A word with an `@` before it. */
interface MentionedWord {
  /** As in the text, without the sentence's punctuation. */
  readonly word: string;
  /** The paths it may refer to, longest first. */
  readonly paths: readonly MentionedPath[];
}

const SPACELESS_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * `@path` with spaces escaped, or `@"a path with spaces"`. The `@` must not follow what could be a mailbox name or a
 * folder, but may follow words of a script without spaces.
 */
const MENTION = new RegExp(
  `(?<=^|[^\\p{L}\\p{N}_.+%/\\\\@-]|${SPACELESS_SCRIPT.source})@(?:"([^"\\n]+)"|((?:\\\\\\s|[^\\s"@])(?:\\\\\\s|\\S)*))`,
  'gu',
);

/** Punctuation of a sentence, quotes and closing brackets: what may follow a path at the end of a word. */
const CLOSING = /^(?:['’]s|[.,;:!?…–—'"’”»`´)\]}>、。，；：！？）」』】》])+/u;
/** What starts the next word without a space: `@notes.txt,and`, `“@notes.txt”—really`. */
const NEXT = /[,;…–—”»、。，；：！？）」』】》]/u;
/** A place in a file, as compilers (`:12:3`) and GitHub (`#L3-L10`) write it. */
const PLACE = /^(?::\d+(?::\d+|-\d+)?|#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?)/u;

/** The longest path a system takes is 4096 bytes; a word of that length is data. */
const MAX_LENGTH = 1024;
/** A text with more mentions is data too, such as a pasted log. */
const MAX_MENTIONS = 1000;
const MAX_PATHS = 64;

/** The mentions that were typed, each once, in order. No disk is asked. */
export function mentionsIn(text: string, pasted: readonly MentionSpan[]): readonly MentionedWord[] {
  const found = new Map<string, MentionedWord>();
  for (const { 0: mention, 1: quoted, 2: run = '', index } of text.matchAll(MENTION)) {
    if (found.size === MAX_MENTIONS) break;
    if (run.length > MAX_LENGTH || pasted.some(({ start, end }) => index >= start && index < end)) continue;
    if (!found.has(mention)) {
      found.set(
        mention,
        quoted === undefined
          ? wordOf(
              run.replace(/\\(\s)/g, '$1'),
              /[*~]{0,3}$/.exec(text.slice(Math.max(0, index - 3), index))?.[0] ?? '',
            )
          : { word: quoted, paths: [{ path: quoted, fileOnly: false }] },
      );
    }
  }
  return [...found.values()];
}

/** Whether a word was likely meant as a path, so that the user should know if it is not one. */
function looksLikePath(word: string): boolean {
  return /[./]/.test(word) && /[\p{L}\p{N}]/u.test(word);
}

/** `marks` are emphasis marks before the `@`, which may also end the word: `**@notes.txt**`. */
function wordOf(run: string, marks: string): MentionedWord {
  const paths: MentionedPath[] = [{ path: run, fileOnly: false }];
  for (let at = run.length - 1; at > 0 && paths.length < MAX_PATHS; at -= 1) {
    const path = run.slice(0, at);
    const end = endingAt(run, at, marks);
    // `@src/...` would leave the folder above `src`.
    if (end !== null && /[\p{L}\p{N}]/u.test(path) && !/\/\.{1,2}$/.test(path)) {
      paths.push({ path, fileOnly: end === 'file' });
    }
  }
  return { word: withoutSigns(run) || run, paths };
}

function withoutSigns(run: string): string {
  const characters = [...run];
  return characters.slice(0, characters.findLastIndex((one) => !/[\p{P}\p{S}]/u.test(one)) + 1).join('');
}

/**
 * What may end at a place in a word: a file or folder, a file alone, or nothing. Code that an `@` stands in (`@app(x)`,
 * `@src/*.ts`) is not cut.
 */
function endingAt(run: string, at: number, marks: string): 'any' | 'file' | null {
  const startsScript = (index: number): boolean =>
    SPACELESS_SCRIPT.test(run.charAt(index)) && !SPACELESS_SCRIPT.test(run.charAt(index - 1));
  if (startsScript(at)) return 'any';
  const place = PLACE.exec(run.slice(at))?.[0] ?? '';
  const following = run.slice(at + place.length);
  const rest = marks === '' ? following : following.replace(marks, '"');
  const closing = CLOSING.exec(rest)?.[0] ?? '';
  if (place + closing === '') return null;
  const next = rest.charAt(closing.length);
  if (next === '' || SPACELESS_SCRIPT.test(next)) return place === '' ? 'any' : 'file';
  return NEXT.test(closing) ? 'file' : null;
}
