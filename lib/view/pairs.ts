import type { Message, Part } from '../chat/message.js';

/**
 * The messages without tool results whose call is gone and calls whose result is gone, for every vendor answers 400 to one without the other.
 * Calls in the very last message are left alone: they are about to be run. A message may be left without content.
 */
export function pairedOnly(messages: readonly Message[]): readonly Message[] {
  const lonely = lonelyParts(messages);
  if (lonely.size === 0) return messages;
  return messages.map((message) =>
    message.content.some((part) => lonely.has(part))
      ? { ...message, content: message.content.filter((part) => !lonely.has(part)) }
      : message,
  );
}

function lonelyParts(messages: readonly Message[]): ReadonlySet<Part> {
  const lonely = new Set<Part>();
  const waiting = new Map<string, Part>();
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'tool_call') {
        const twin = waiting.get(part.call_id);
        if (twin) lonely.add(twin);
        waiting.set(part.call_id, part);
      } else if (part.type === 'tool_result' && !waiting.delete(part.call_id)) lonely.add(part);
    }
  }
  const last = messages.at(-1);
  for (const part of waiting.values()) if (!last?.content.includes(part)) lonely.add(part);
  return lonely;
}
