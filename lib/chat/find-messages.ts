import { type Entry, isMessage, type Message } from './message.js';
import { spokenText } from './transcript.js';

/** A message that contains a text. */
export interface Found {
  readonly message: Message;
  /** What was searched in it. */
  readonly words: string;
  /** Where the text first stands in the words. */
  readonly place: number;
}

/** The messages that contain a text, whatever its case, in what was said, called or answered by a tool; who said it and when is not searched. */
export async function* findMessages(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  text: string,
  signal?: AbortSignal,
): AsyncGenerator<Found> {
  const wanted = text.toLowerCase();
  for await (const entry of entries) {
    signal?.throwIfAborted();
    if (!isMessage(entry)) continue;
    const words = spokenText(entry);
    const place = words.toLowerCase().indexOf(wanted);
    if (place >= 0) yield { message: entry, words, place };
  }
}
