import { constants, openSync, type Stats, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, resolve } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { fileBlock, textBlock } from '../chat/marked-text.js';
import { fileFormat } from '../chat/media.js';
import type { Part } from '../chat/message.js';
import { sizeText } from '../chat/text.js';
import { HiError, systemCode, systemReason } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import type { GivenFile } from '../tools/common/tool.js';
import type { Attachment, UserInput } from './common/deps.js';

/** A file from the user as sent to the model: as text, or as an attachment. */
export type FileInput = { readonly text: string } | { readonly attachment: Attachment };

/** Vendors accept files up to about this size. */
export const LARGEST = 20_000_000;

/** Where to look for a file, and how to read it. */
export interface ReadOptions {
  readonly cwd: string;
  /** Whether to read a pipe to its end, which may never come; otherwise pipes are refused. */
  readonly pipes: boolean;
  /** Stops the reading. */
  readonly signal: AbortSignal;
  /** The bytes of its name, where that is no text. */
  readonly bytes?: Buffer;
}

/**
 * Reads a file that the user attached: text, image or PDF, distinguished by their first bytes. Text is wrapped in a
 * block that names the file, and of a folder the names in it are read. Throws a `HiError` of code `usage` naming the
 * path if it does not exist, cannot be read, is too large, or is binary, and an abort error if stopped.
 */
export async function readFileInput(path: string, options: ReadOptions): Promise<FileInput> {
  const listing = options.bytes === undefined ? await listFolder(path, options.cwd) : null;
  if (listing !== null) return { text: listing.text };
  const input = inputFrom(await readFileBytes(path, options), path);
  return 'text' in input ? { text: fileBlock(path, input.text) } : input;
}

/** More names than this help no model. It gets the total instead. */
const MAX_LISTED = 1000;

/** The names in a folder, as the model reads them. */
interface FolderListing {
  readonly text: string;
  readonly entries: number;
}

/**
 * The names in a folder, hidden ones too, folders with a final `/`; null for a path that is not a folder or may not be
 * read. Throws a `HiError` of code `usage` when the folder cannot be listed.
 */
export async function listFolder(path: string, cwd: string): Promise<FolderListing | null> {
  const place = resolve(cwd, path);
  const stats = await stat(place).catch(() => null);
  if (!stats?.isDirectory()) return null;
  try {
    const found = await readdir(place, { withFileTypes: true });
    const names = found.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    const lines =
      names.length > MAX_LISTED ? [...names.slice(0, MAX_LISTED), `(and ${names.length - MAX_LISTED} more)`] : names;
    return { text: textBlock('folder', { name: path }, lines.join('\n')), entries: names.length };
  } catch (cause) {
    throw new HiError('usage', `Cannot list '${path}': ${systemReason(cause)}.`, {
      hint: "Check its permissions with 'ls -ld'. Nothing was sent.",
      cause,
    });
  }
}

/**
 * Detects what the bytes are: text, or an image or PDF with this name. Throws a `HiError` of code `usage` for other
 * binary content and damaged headers.
 */
export function inputFrom(bytes: Buffer, path: string): FileInput {
  const name = basename(path);
  const format = fileFormat(bytes);
  const mime = format?.mime ?? null;
  if (format?.isDamaged) {
    throw new HiError('usage', `'${path}' starts like a ${format.name}, but its header is damaged or cut off.`, {
      hint: 'Attach the whole file; nothing was sent.',
    });
  }
  // Audio is sent to the model as a file, like documents.
  const isFile = mime === 'application/pdf' || mime?.startsWith('audio/');
  if (isFile && mime !== null) return { attachment: { kind: 'document', mime, bytes, name } };
  if (mime !== null) return { attachment: { kind: 'image', mime, bytes, name } };
  if (bytes.includes(0)) {
    throw new HiError('usage', `'${path}' is a binary file, but not an image, PDF or audio.`, {
      hint: 'Attach text, PNG, JPEG, GIF, WebP or PDF; some models also take HEIC and audio (WAV, MP3, AIFF, AAC, Ogg, FLAC).',
    });
  }
  return { text: bytes.toString('utf8') };
}

/** The bytes of a file that the user named. Throws like `readFileInput`, except for its content. */
export async function readFileBytes(path: string, { cwd, pipes, signal, bytes }: ReadOptions): Promise<Buffer> {
  const place = bytes === undefined ? resolve(cwd, path) : placeOf(bytes, cwd);
  try {
    const stats = statSync(place);
    const refused = refusalOf(stats, path, pipes);
    if (refused !== null) throw refused;
    if (stats.isFIFO()) return await readPipe(place, path, signal);
    return await readFile(place, { flag: AT_ONCE, signal });
  } catch (cause) {
    if (cause instanceof HiError || signal.aborted) throw cause;
    const denied = ['EACCES', 'EPERM'].includes(systemCode(cause) ?? '');
    const remedy = denied ? 'Check its permissions and those of its folder (ls -ld)' : 'Check the path';
    throw refusal(path, `${systemReason(cause)}.`, remedy, cause);
  }
}

/** Where a name in bytes leads from the folder. */
const placeOf = (name: Buffer, cwd: string): Buffer =>
  name[0] === SLASH ? name : Buffer.concat([Buffer.from(`${cwd}/`), name]);

const SLASH = 0x2f;

/** Devices are not even opened: opening may have effects, and their end may never come. */
function refusalOf(stats: Stats, path: string, pipes: boolean): HiError | null {
  if (stats.isFIFO())
    return pipes ? null : refusal(path, 'It is a named pipe.', 'Use hi ask -f, or cat it into a file');
  if (stats.isDirectory()) return refusal(path, 'It is a folder.', 'Name a file in it');
  if (!stats.isFile()) {
    const what = stats.isSocket() ? 'It is a socket, not a file.' : 'It is a device, not a file.';
    return refusal(path, what, 'Attach a file, or pipe the text into hi ask');
  }
  return stats.size > LARGEST ? tooLarge(path, stats.size) : null;
}

function refusal(path: string, reason: string, remedy: string, cause?: unknown): HiError {
  return new HiError('usage', `Cannot attach '${path}': ${reason}`, { hint: `${remedy}; nothing was sent.`, cause });
}

function tooLarge(path: string, size: number | null): HiError {
  const found = size === null ? 'It is too large' : `It has ${sizeText(size)}`;
  return refusal(path, `${found}, and the limit is ${sizeText(LARGEST)}.`, 'Attach a smaller file or a part of it');
}

// Opening a pipe that nobody writes to would block for ever.
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads the output of a shell's `<(command)`, or of a writer to a named pipe. */
async function readPipe(place: string | Buffer, path: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of pipeStream(openSync(place, AT_ONCE), signal)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST) throw tooLarge(path, null);
  }
  return Buffer.concat(chunks);
}

/** The part of Bun that the executable needs: its sockets cannot read a pipe that was opened as a file. */
interface Bun {
  file(fd: number): { stream(): ReadableStream<Uint8Array> };
}

function hasBun(world: object): world is { readonly Bun: Bun } {
  return 'Bun' in world;
}

function pipeStream(fd: number, signal: AbortSignal): AsyncIterable<Buffer> {
  const world: object = globalThis;
  if (hasBun(world)) {
    return addAbortSignal(signal, Readable.fromWeb(world.Bun.file(fd).stream()));
  }
  return new Socket({ fd, readable: true, writable: false, signal });
}

/** The user's input as stored in the history. The files are on disk when this resolves. */
export async function contentOf({ text, texts, attachments }: UserInput, history: HistoryStore): Promise<Part[]> {
  const content: Part[] = [];
  for (const { kind, mime, bytes, name } of attachments) {
    content.push({ type: kind, mime, sha256: await history.attachments.add(bytes), bytes: bytes.length, name });
  }
  for (const part of [...texts, text]) if (part !== '') content.push({ type: 'text', text: part });
  return content;
}

/** The files that tools returned, as stored in the history. */
export async function keptFiles(files: readonly GivenFile[], history: HistoryStore): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { kind, mime, bytes } of files)
    parts.push({ type: kind, mime, sha256: await history.attachments.add(bytes), bytes: bytes.length });
  return parts;
}
