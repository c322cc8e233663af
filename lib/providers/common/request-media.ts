import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { DocumentPart, ImagePart, Part, TextPart, VendorPart } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { capitalised } from '../../chat/text.js';
import { HiError } from '../../errors.js';

/** The formats that all vendors with file input support. */
const USUAL = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;

/**
 * Replaces files of earlier turns by text if the vendor does not support their format (`more`: the formats that it
 * supports in addition to the usual ones). Throws a `request` error for such a file in the newest message, before
 * anything is sent.
 */
export function withSupportedMedia(request: ChatRequest, title: string, more: RegExp | null): ChatRequest {
  const isOther = (part: Part): part is ImagePart | DocumentPart =>
    (part.type === 'image' || part.type === 'document') && !USUAL.test(part.mime) && !more?.test(part.mime);
  const { messages } = request;
  if (!messages.some(({ role, content }) => role === 'user' && content.some(isOther))) return request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const refused = messages[asked]?.content.find(isOther);
  if (refused !== undefined) throw notTaken(refused, title);
  const inWords = (part: Part): Part => (isOther(part) ? { type: 'text', text: unseenText(part) } : part);
  return {
    ...request,
    messages: messages.map((one) => (one.role === 'user' ? { ...one, content: one.content.map(inWords) } : one)),
  };
}

function notTaken({ mime, name }: ImagePart | DocumentPart, title: string): HiError {
  const what = mime.startsWith('audio/') ? 'audio' : 'images in HEIC';
  return new HiError('request', capitalised(`${title} does not support ${what}: '${name ?? mime}'.`), {
    hint: 'Use a model that supports it (-m NAME), or convert the file.',
  });
}

/**
 * Models without vision, according to the model pages of OpenAI, Anthropic and DeepSeek. For all others only a request
 * will show it.
 */
const WITHOUT_VISION = [
  /^gpt-3\.5/,
  /^gpt-4(?:-0314|-0613|-32k.*|-0125-preview|-1106-preview|-turbo-preview)?$/,
  /^o1-(?:mini|preview)/,
  /^o3-mini/,
  /^(?:babbage|davinci)-002/,
  /^deepseek-(?:chat|reasoner)/,
  /^claude-(?:2|instant)/,
];

/** True if a model is known to have no vision. */
export function isTextOnly(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return WITHOUT_VISION.some((pattern) => pattern.test(name));
}

/** The error for an image sent to a model without vision. `how` says in parentheses how to find a suitable model. */
export function noImageSupport(model: string, how = ''): HiError {
  return new HiError('request', `The model '${model}' cannot see images.`, {
    hint: `Use a model with vision${how}. The conversation goes on without this message.`,
  });
}

/** The error for a document sent to a model that cannot read documents. */
export function noDocumentSupport(model: string): HiError {
  return new HiError('request', `The model '${model}' cannot read documents such as PDF files.`, {
    hint: 'Send the text instead (pdftotext extracts it), or use another model. The conversation goes on without this message.',
  });
}

/** The bytes of an image or document in base64, null if they were deleted. */
export function base64Of(part: ImagePart | DocumentPart, attachments: ChatRequest['attachments']): string | null {
  const bytes = attachments.get(part.sha256);
  return bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** The text in place of an earlier attachment that this model does not support. */
export function unseenText(part: ImagePart | DocumentPart): string {
  return `[The ${part.type} ${part.name ?? part.mime} was here; you cannot see it.]`;
}

/** The text in place of an attachment whose bytes were deleted. */
export function missingText(part: ImagePart | DocumentPart): string {
  return `[The ${part.type} ${part.name ?? part.mime} is no longer there.]`;
}

type Drawing = Extract<StreamEvent, { type: 'image' }>;

/** The placeholder in a vendor's block for the bytes, which are stored in a file next to the history. */
const BYTES = '\u0000bytes';

/**
 * An image that the model generated, from base64. `block` creates the vendor's block, which is sent back with the
 * model's own answer.
 */
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
