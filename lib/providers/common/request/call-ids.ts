import type { ChatRequest } from '../../../chat/request.js';

/** Gives every tool call of an answer an id that is unique in the conversation, the vendor's own if possible. */
export function callIds(messages: ChatRequest['messages']): (given?: string | null) => string {
  const taken = new Set<string>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool_call') taken.add(part.call_id);
  }
  return (given) => {
    // Some servers count from 0 in every answer, others give no id.
    const id = given && !taken.has(given) ? given : shortId(crypto.randomUUID());
    taken.add(id);
    return id;
  };
}

/** Converts an id to nine letters and digits, always in the same way: Mistral accepts no other form, and all others accept this one. */
export function shortId(call_id: string): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256').update(call_id).digest();
  return Array.from(hash.subarray(0, 9), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
