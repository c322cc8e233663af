import type { StreamEvent } from '../../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../../chat/json.js';
import type { ImagePart, Part, TextPart, VendorPart } from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';
import { base64Of } from './attachment.js';

type Drawing = Extract<StreamEvent, { type: 'image' }>;

/** The placeholder in a vendor's block for the bytes, which are stored in a file next to the history. */
const BYTES = '\u0000bytes';

/** An image that the model generated, from base64. `block` creates the vendor's block, which is sent back with the model's own answer. */
export function drawnImage(mime: string, data: string, block: ((data: string) => JsonObject) | null): Drawing {
  return {
    type: 'image',
    mime,
    bytes: Buffer.from(data, 'base64'),
    ...(block !== null && { opaque: { block: block(BYTES) } }),
  };
}

/** The image in a data URL, null for any other URL. */
export function imageInAddress(url: unknown): Drawing | null {
  const [, mime, data] = typeof url === 'string' ? (/^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? []) : [];
  return mime === undefined || data === undefined ? null : drawnImage(mime, data, null);
}

/** The parts of an earlier answer. Images become the vendor's blocks in its own answers, and text in others. */
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
