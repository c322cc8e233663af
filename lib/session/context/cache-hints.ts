import type { Message, NewMessage } from '../../chat/message.js';
import type { CacheHints } from '../../chat/request.js';

/** How long vendors keep an unused cache entry, in milliseconds. */
const SHORT_CACHE = 5 * 60_000;

/** The cache hints for a request of the conversation `key`. They depend only on its messages, so they are the same for every request of a turn. */
export function cacheHints(key: string | null, messages: readonly (NewMessage | Message)[]): CacheHints {
  const stored = messages.filter((message): message is Message => 'at' in message);
  const running = stored.at(-1)?.turn;
  const asked = stored.find(({ turn }) => turn === running);
  const answered = stored.findLast(({ role, turn }) => role === 'assistant' && turn !== running);
  if (asked === undefined || answered === undefined) return { key, isSlow: false };
  return { key, isSlow: Date.parse(asked.at) - Date.parse(answered.at) > SHORT_CACHE };
}
