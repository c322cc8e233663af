import { imageSize } from '../../chat/media.js';
import { type ImagePart, isPart } from '../../chat/message.js';
import type { ImageLimits } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';

/** A smaller picture, sent in place of one that is too large. */
export interface SmallImage {
  readonly mime: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** The length of this many bytes in base64. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** If the request as a whole is too large, images below this size stay unchanged. */
const SMALL = 256 * 1024;

/** The user's images that the vendor would refuse, each once: too large by itself, among too many, or with all files together too large. */
export function tooLargeImages({ messages, attachments }: ChatRequest, limits: ImageLimits): readonly ImagePart[] {
  const parts = messages.flatMap(({ role, content }) => (role === 'user' ? content : []));
  const images = parts.filter(isPart('image'));
  const sizes = [...images, ...parts.filter(isPart('document'))].map(
    ({ sha256 }) => attachments.get(sha256)?.length ?? 0,
  );
  const isCrowded = sizes.reduce((sum, size) => sum + base64Length(size), 0) > limits.request;
  const { many } = limits;
  const longest = many !== undefined && images.length > many.count ? many.side : (limits.side ?? Infinity);
  const found = images.filter(({ sha256 }) => {
    const bytes = attachments.get(sha256);
    if (bytes === undefined) return false;
    if (base64Length(bytes.length) > limits.bytes || (isCrowded && bytes.length > SMALL)) return true;
    const size = longest === Infinity ? null : imageSize(bytes);
    return size !== null && Math.max(size.width, size.height) > longest;
  });
  return [...new Map(found.map((part) => [part.sha256, part])).values()];
}
