import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import { fileFormat } from '../../chat/media.js';
import type { ImagePart } from '../../chat/message.js';
import type { HistoryStore } from '../../history/store.js';

/** Saves a picture for the user. Resolves to its name and path, or to the reason it failed. */
export type SaveImage = (
  bytes: Uint8Array,
  extension: string,
) => Promise<{ readonly name: string; readonly path: string } | { readonly reason: string }>;

/** An image that a model drew, as stored in the history. */
export interface KeptImage {
  readonly part: ImagePart;
  readonly event: ChatEvent;
}

const OFF = 'The picture is not kept: the chat is off the record.';

type Drawing = Extract<StreamEvent, { type: 'image' }>;

/** Stores an image that a model drew: with the history, and as a file. Failing to write the file does not affect the answer. */
export async function keepImage(drawing: Drawing, history: HistoryStore, save: SaveImage): Promise<KeptImage> {
  const { bytes, opaque } = drawing;
  const mime = fileFormat(bytes)?.mime ?? drawing.mime;
  const saved = history.isOffRecord ? { reason: OFF } : await save(bytes, extensionOf(mime));
  const part: ImagePart = {
    type: 'image',
    mime,
    sha256: await history.attachments.add(bytes),
    bytes: bytes.length,
    ...('name' in saved && { name: saved.name }),
    ...(opaque !== undefined && { opaque }),
  };
  if ('path' in saved) return { part, event: { type: 'image', path: saved.path, mime, bytes: bytes.length } };
  const text = saved.reason === OFF ? OFF : `The picture is in the history, but could not be saved: ${saved.reason}`;
  return { part, event: { type: 'notice', level: 'warning', text } };
}

/** `image/svg+xml` is `svg`. */
function extensionOf(mime: string): string {
  const name = /^image\/([a-z0-9]+)/.exec(mime)?.[1] ?? 'bin';
  return name === 'jpeg' ? 'jpg' : name;
}
