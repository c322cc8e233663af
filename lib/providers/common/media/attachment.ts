import type { DocumentPart, ImagePart } from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';

/** The bytes of an image or document in base64, null when they are gone. */
export function base64Of(part: ImagePart | DocumentPart, attachments: ChatRequest['attachments']): string | null {
  const bytes = attachments.get(part.sha256);
  return bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** What the model reads in place of an attachment of an earlier turn, sent to another model, that this one cannot take. */
export function unseenText(part: ImagePart | DocumentPart): string {
  return `[The ${part.type} ${part.name ?? part.mime} was here; you cannot see it.]`;
}

/** What the model reads in place of an attachment whose bytes are gone. */
export function missingText(part: ImagePart | DocumentPart): string {
  return `[The ${part.type} ${part.name ?? part.mime} is no longer there.]`;
}
