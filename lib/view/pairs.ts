import type { Message, Part } from '../chat/message.js';

/**
 * The messages without tool results whose call is missing, and calls whose result is missing: every vendor rejects one without the other.
 * Calls in the last message stay, because they are about to run. A message may end up without content.
 */
export function pairedOnly(messages: readonly Message[]): readonly Message[] {
  const unpaired = unpairedParts(messages);
  if (unpaired.size === 0) return messages;
  return messages.map((message) =>
    message.content.some((part) => unpaired.has(part))
      ? { ...message, content: message.content.filter((part) => !unpaired.has(part)) }
      : message,
  );
}

function unpairedParts(messages: readonly Message[]): ReadonlySet<Part> {
  const unpaired = new Set<Part>();
  const waiting = new Map<string, Part>();
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'tool_call') {
        const earlier = waiting.get(part.call_id);
        if (earlier) unpaired.add(earlier);
        waiting.set(part.call_id, part);
      } else if (part.type === 'tool_result' && !waiting.delete(part.call_id)) unpaired.add(part);
    }
  }
  const last = messages.at(-1);
  for (const part of waiting.values()) if (!last?.content.includes(part)) unpaired.add(part);
  return unpaired;
}
