import type { DocumentPart, ImagePart } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import type { HistoryStore } from '../../history/store.js';

/** The bytes of images and documents. The model is told if one is lost, so that a missing file does not stop the conversation. */
export async function requestAttachments(
  history: HistoryStore,
  messages: ChatRequest['messages'],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const lost = new Map<string, ImagePart | DocumentPart>();
  // An image that the model drew is sent back only if its vendor wants it.
  const wanted = messages.flatMap(({ role, content }) =>
    content.filter((part) => role !== 'assistant' || part.type !== 'image' || part.opaque !== undefined),
  );
  for (const part of wanted) {
    if ((part.type !== 'image' && part.type !== 'document') || found.has(part.sha256)) continue;
    const bytes = await history.attachments.get(part.sha256);
    if (bytes === null) lost.set(part.sha256, part);
    else found.set(part.sha256, bytes);
  }
  if (lost.size > 0) await history.attachments.reportLost([...lost.values()]);
  return found;
}
