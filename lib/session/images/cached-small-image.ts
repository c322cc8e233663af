import { createHash } from 'node:crypto';
import { isJsonObject } from '../../chat/json.js';
import type { ImageLimits } from '../../chat/model.js';
import type { TextCache } from '../../chat/request.js';
import type { SmallImage } from './image-limits.js';
import { smallImageAside } from './small-image-aside.js';

/** The result of `smallImage` for the picture `key`, cached for all processes: decoding a large picture takes about a second. Rejects if `signal` aborts. */
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
