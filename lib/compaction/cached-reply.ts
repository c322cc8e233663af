import { createHash } from 'node:crypto';
import type { ChatEvent } from '../chat/event.js';
import type { TextCache, TextPrompt, Tokens, WrittenText } from '../chat/request.js';
import { type Reply, readReply } from './reply.js';

/** A valid reply, and the model's text for it; null if it was cached. */
export interface Recalled {
  readonly reply: Reply;
  readonly written: WrittenText | null;
}

/**
 * The cached reply to the same prompt if it is valid, else a new one from `write`, which is cached if it is valid.
 * The model is not part of the key: a summary by one model serves all of them. Throws like `readReply`.
 */
export async function* recallOr(
  cache: TextCache,
  prompt: TextPrompt,
  budget: Tokens,
  write: () => AsyncGenerator<ChatEvent, WrittenText>,
): AsyncGenerator<ChatEvent, Recalled> {
  const key = createHash('sha256').update(JSON.stringify(prompt)).digest('hex');
  const stored = await cache.get(key);
  const known = stored === null ? null : goodReply(stored, budget);
  if (known) return { reply: known, written: null };
  const written = yield* write();
  const reply = readReply(written, budget);
  await cache.put(key, written.text);
  return { reply, written };
}

function goodReply(text: string, budget: Tokens): Reply | null {
  try {
    return readReply({ text, stop_reason: 'end' }, budget);
  } catch {
    return null;
  }
}
