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

/** A message with the files it mentions, and a notice about them for the user, null if it mentions none. */
export interface ResolvedMessage {
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
 * Attaches the files and folders named as `@path`, and pages at `@https://…`: texts and listings go before the message, images and PDFs with it.
 * A word that does not name a file stays text. Throws a `HiError` of code `usage` for a file that exists and cannot be attached, before anything is sent.
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

/** If none exists, a path without read permission counts as existing, so that the user learns why it cannot be attached. */
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
