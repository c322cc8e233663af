import type { StreamEvent } from '../../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../../chat/json.js';
import type { ImagePart, Part, TextPart, VendorPart } from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';
import { base64Of } from './attachment.js';

type Drawing = Extract<StreamEvent, { type: 'image' }>;

/** What stands in a vendor's block in place of the bytes, which lie beside the history. */
const BYTES = '\u0000bytes';

/** An image that the model drew, from base64. `block` makes the vendor's block of it, which goes back when the model reads its own answer. */
export function drawnImage(mime: string, data: string, block: ((data: string) => JsonObject) | null): Drawing {
  return {
    type: 'image',
    mime,
    bytes: Buffer.from(data, 'base64'),
    ...(block !== null && { opaque: { block: block(BYTES) } }),
  };
}

/** An image as a data address holds it, null for any other address. */
export function imageInAddress(url: unknown): Drawing | null {
  const [, mime, data] = typeof url === 'string' ? (/^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? []) : [];
  return mime === undefined || data === undefined ? null : drawnImage(mime, data, null);
}

/** The parts of an earlier answer, where its images are the vendor's blocks again when it is its own, and words otherwise. */
export function withDrawings(
  content: readonly Part[],
  own: boolean,
  attachments: ChatRequest['attachments'] | undefined,
): readonly Part[] {
  return content.map((part) => (part.type === 'image' ? restored(part, own, attachments) : part));
}

function restored(
  part: ImagePart,
  own: boolean,
  attachments: ChatRequest['attachments'] = new Map(),
): VendorPart | TextPart {
  const data = own && part.opaque !== undefined ? base64Of(part, attachments) : null;
  const block = part.opaque?.block;
  if (data !== null && isJsonObject(block)) return { type: 'vendor', opaque: filled(block, data) };
  return { type: 'text', text: `[You drew an image here: ${part.name ?? part.mime}.]` };
}

function filled(block: JsonObject, data: string): JsonObject {
  const entries = Object.entries(block).map(([name, value]) => {
    if (value === BYTES) return [name, data];
    return [name, isJsonObject(value) ? filled(value, data) : value];
  });
  return Object.fromEntries(entries);
}
