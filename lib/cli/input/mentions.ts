import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { estimateTokens } from '../../chat/tokens.js';
import { shortCount } from '../../chat/transcript.js';
import { systemCode } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/common/deps.js';
import { type FileInput, readFileInput } from '../../session/files.js';
import { listFolder } from './list-folder.js';
import { looksLikePath, type MentionedPath, type MentionSpan, mentionsIn } from './mention-words.js';

/** A message with the files it mentions, and a notice about them for the user; null when it mentions none. */
export interface ResolvedMessage {
  readonly input: UserInput;
  readonly notice: string | null;
}

/** What stands at an address of an MCP server, as the model gets it, and as the notice lists it. */
export interface AttachedResource {
  readonly label: string;
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
}

/** What mentions may need besides the disk. */
export interface MentionDeps {
  /** Gets what stands at a web address; without it an address is text. */
  readonly fetch?: (address: string) => Promise<FileInput>;
  /** What a word names of the MCP servers, of the ways in which it can be read; null where it begins with no server. */
  readonly resource?: (words: readonly string[], signal: AbortSignal) => Promise<AttachedResource> | null;
  /** Told which word is about to be attached, so that a failure can name its place. */
  readonly begin?: (word: string) => void;
}

/** One file or folder as the model gets it, and as the notice lists it. */
type Attached = { readonly label: string } & (
  | { readonly text: string }
  | { readonly attachment: Attachment }
  | AttachedResource
);

/**
 * Attaches the files and folders that a message names with `@path`, and the pages at `@https://…`: texts and listings go before the message, images and PDFs with it.
 * A word that names no file stays text. Throws a `HiError` of code `usage` for a file that exists and cannot be attached, before anything is sent.
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

const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, () => homedir());

/** Where none exists, a path that may not be read counts as existing: the user then learns why it cannot be attached. */
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
    return { text: listing.text, label: `${path} (folder, ${counted(listing.entries, 'entry', 'entries')})` };
  }
  const input = await readFileInput(path, { cwd, pipes: false, signal });
  if ('text' in input) {
    return { ...input, label: `${path} (${counted(estimateTokens(input.text.length), 'token', 'tokens')})` };
  }
  const { kind, bytes } = input.attachment;
  return { ...input, label: `${path} (${kind}, ${counted(bytes.length, 'byte', 'bytes')})` };
}

const counted = (count: number, one: string, many: string): string =>
  `${shortCount(count)} ${count === 1 ? one : many}`;

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
