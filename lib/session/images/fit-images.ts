import type { ChatEvent } from '../../chat/event.js';
import type { ImagePart, Part } from '../../chat/message.js';
import type { ImageLimits } from '../../chat/model.js';
import type { ChatRequest, TextCache } from '../../chat/request.js';
import { cachedSmallImage } from './cached-small-image.js';
import { type SmallImage, tooLargeImages } from './image-limits.js';

/** What scaling pictures down needs. */
export interface ImageFitting {
  /** Null if the vendor has none, or the model does not support pictures. */
  readonly limits: ImageLimits | null;
  /** Outlives the process; null if nothing may be written. */
  readonly cache: TextCache | null;
  /** The results of this process; null for a picture that cannot be made smaller. */
  readonly made: Map<string, SmallImage | null>;
}

/** The request with pictures that the vendor accepts: those too large are scaled down, with one notice. The history keeps the originals. */
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
  return `${name ?? 'A picture'}: ${megabytes(before)}, sent as ${width} × ${height} ${format}, ${megabytes(bytes.length)}`;
}

const megabytes = (bytes: number): string => `${Math.max(0.1, bytes / 1024 / 1024).toFixed(1)} MB`;

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
