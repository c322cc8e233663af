import { type Entry, isMessage, type Message } from './message.js';
import { fullText } from './transcript.js';

/** A message that contains a text. */
export interface FoundMessage {
  readonly message: Message;
  /** Everything in the message that was searched. */
  readonly text: string;
  /** Where the match begins in `text`. */
  readonly index: number;
}

/** The messages that contain a text in any case, in their words, tool calls or results. Who wrote a message and when is not searched. */
export async function* findMessages(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  wanted: string,
  signal?: AbortSignal,
): AsyncGenerator<FoundMessage> {
  const lowered = wanted.toLowerCase();
  for await (const entry of entries) {
    signal?.throwIfAborted();
    if (!isMessage(entry)) continue;
    const text = fullText(entry);
    const index = text.toLowerCase().indexOf(lowered);
    if (index >= 0) yield { message: entry, text, index };
  }
}
