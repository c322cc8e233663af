import type { DocumentPart, ImagePart, Part } from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';
import { capitalised } from '../../../chat/text.js';
import { HiError } from '../../../errors.js';
import { unseenText } from './attachment.js';

/** The formats that all vendors with file input support. */
const USUAL = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;

/**
 * Replaces files of earlier turns by text if the vendor does not support their format (`more`: the formats that it supports in addition to the usual ones).
 * Throws a `request` error for such a file in the newest message, before anything is sent.
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
