import type { DocumentPart, ImagePart } from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';

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
