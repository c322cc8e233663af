import { createHash } from 'node:crypto';
import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import { isJsonObject } from '../../chat/json.js';
import { fileFormat, type SmallImage, tooLargeImages } from '../../chat/media.js';
import type { ImagePart, Part } from '../../chat/message.js';
import type { ImageLimits } from '../../chat/model.js';
import type { ChatRequest, TextCache } from '../../chat/request.js';
import { sizeText } from '../../chat/text.js';
import type { HistoryStore } from '../../history/store.js';
import { smallImageAside } from './small-image-aside.js';

/** What scaling pictures down needs. */
export interface ImageFitting {
  /** Null if the vendor has none, or the model does not support pictures. */
  readonly limits: ImageLimits | null;
  /** Outlives the process; null if nothing may be written. */
  readonly cache: TextCache | null;
  /** The results of this process; null for a picture that cannot be made smaller. */
  readonly made: Map<string, SmallImage | null>;
}

/**
 * The request with pictures that the vendor accepts: those too large are scaled down, with one notice. The history
 * keeps the originals.
 */
export async function* fitImages(
  prepared: AsyncGenerator<ChatEvent, ChatRequest>,
  { limits, cache, made }: ImageFitting,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, ChatRequest> {
  const request = yield* prepared;
  if (limits === null || request.attachments.size === 0) return request;
  const small = new Map<string, SmallImage>();
  for (const part of tooLargeImages(request, limits)) {
    const key = JSON.stringify([part.sha256, limits.used, limits.bytes]);
    const bytes = request.attachments.get(part.sha256);
    if (bytes !== undefined && !made.has(key)) {
      yield { type: 'waiting', what: `scaling ${part.name ?? 'a picture'}` };
      const image = await cachedSmallImage(bytes, limits, key, cache, signal);
      made.set(key, image);
      if (image !== null && isNewest(part, request))
        yield { type: 'notice', level: 'info', text: noticeOf(part, image) };
    }
    const image = made.get(key);
    if (image) small.set(part.sha256, image);
  }
  return small.size === 0 ? request : withSmall(request, small);
}

/** A picture is sent again with every later message, but reported only with the newest. */
function isNewest({ sha256 }: ImagePart, { messages }: ChatRequest): boolean {
  const newest = messages.findLast(({ role }) => role === 'user');
  return newest?.content.some((part) => part.type === 'image' && part.sha256 === sha256) ?? false;
}

function noticeOf({ name, bytes: before }: ImagePart, { mime, width, height, bytes }: SmallImage): string {
  const format = mime === 'image/png' ? 'PNG' : 'JPEG';
  return `${name ?? 'A picture'}: ${sizeText(before)}, sent as ${width} × ${height} ${format}, ${sizeText(bytes.length)}`;
}

function withSmall(request: ChatRequest, small: ReadonlyMap<string, SmallImage>): ChatRequest {
  const smaller = (part: Part): Part => {
    const image = part.type === 'image' ? small.get(part.sha256) : undefined;
    return part.type === 'image' && image !== undefined ? { ...part, mime: image.mime } : part;
  };
  const bytes = [...small].map(([sha256, image]) => [sha256, image.bytes] as const);
  return {
    ...request,
    messages: request.messages.map((message) =>
      message.role === 'user' ? { ...message, content: message.content.map(smaller) } : message,
    ),
    attachments: new Map([...request.attachments, ...bytes]),
  };
}

/**
 * The result of `smallImage` for the picture `key`, cached for all processes: decoding a large picture takes about a
 * second. Rejects if `signal` aborts.
 */
export async function cachedSmallImage(
  bytes: Uint8Array,
  limits: ImageLimits,
  key: string,
  cache: TextCache | null,
  signal: AbortSignal,
): Promise<SmallImage | null> {
  const hash = createHash('sha256').update(`picture ${key}`).digest('hex');
  const stored = await cache?.get(hash);
  const known = stored ? fromText(stored) : null;
  if (known !== null) return known;
  const made = await smallImageAside(bytes, limits, signal);
  if (made !== null) await cache?.put(hash, toText(made));
  return made;
}

function toText({ bytes, ...image }: SmallImage): string {
  return JSON.stringify({ ...image, data: Buffer.from(bytes).toString('base64') });
}

function fromText(text: string): SmallImage | null {
  try {
    const stored: unknown = JSON.parse(text);
    if (!isJsonObject(stored)) return null;
    const { mime, width, height, data } = stored;
    if (typeof mime !== 'string' || typeof width !== 'number' || typeof height !== 'number') return null;
    return typeof data === 'string' ? { mime, width, height, bytes: Buffer.from(data, 'base64') } : null;
  } catch {
    return null;
  }
}

/** Saves a picture for the user. Resolves to its name and path, or to the reason it failed. */
export type SaveImage = (
  bytes: Uint8Array,
  extension: string,
) => Promise<{ readonly name: string; readonly path: string } | { readonly reason: string }>;

/** An image that a model drew, as stored in the history. */
export interface KeptImage {
  readonly part: ImagePart;
  readonly event: ChatEvent;
}

const OFF = 'The picture is not kept: the chat is off the record.';

type Drawing = Extract<StreamEvent, { type: 'image' }>;

/**
 * Stores an image that a model drew: with the history, and as a file. Failing to write the file does not affect the
 * answer.
 */
export async function keepImage(drawing: Drawing, history: HistoryStore, save: SaveImage): Promise<KeptImage> {
  const { bytes, opaque } = drawing;
  const mime = fileFormat(bytes)?.mime ?? drawing.mime;
  const saved = history.keeping === 'off-record' ? { reason: OFF } : await save(bytes, extensionOf(mime));
  const part: ImagePart = {
    type: 'image',
    mime,
    sha256: await history.attachments.add(bytes),
    bytes: bytes.length,
    ...('name' in saved && { name: saved.name }),
    ...(opaque !== undefined && { opaque }),
  };
  if ('path' in saved) return { part, event: { type: 'image', path: saved.path, mime, bytes: bytes.length } };
  const text = saved.reason === OFF ? OFF : `The picture is in the history, but could not be saved: ${saved.reason}`;
  return { part, event: { type: 'notice', level: 'warning', text } };
}

/** `image/svg+xml` is `svg`. */
function extensionOf(mime: string): string {
  const name = /^image\/([a-z0-9]+)/.exec(mime)?.[1] ?? 'bin';
  return name === 'jpeg' ? 'jpg' : name;
}
