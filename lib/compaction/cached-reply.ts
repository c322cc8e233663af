import { createHash } from 'node:crypto';
import type { ChatEvent } from '../chat/event.js';
import type { TextCache, TextPrompt, WrittenText } from '../chat/text-model.js';
import type { Tokens } from '../chat/tokens.js';
import { type Reply, readReply } from './reply.js';

/** A good reply, and what was written for it; null when it was remembered. */
export interface Recalled {
  readonly reply: Reply;
  readonly written: WrittenText | null;
}

/**
 * The stored reply to the same prompt when it is a good one, else a new one from `write`, stored once it has proved good.
 * The model is no part of the key: what one model has summarised another one need not. Throws like `readReply`.
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
