import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../lib/chat/request.js';
import { toVendorRequest as toAnthropic } from '../../lib/providers/anthropic/anthropic-request.js';
import { toVendorMessages as toGemini } from '../../lib/providers/gemini/gemini-request.js';

const MESSAGES: ChatRequest['messages'] = [
  { role: 'assistant', content: [{ type: 'text', text: 'kept answer' }] },
  { role: 'user', content: [{ type: 'text', text: 'question' }] },
];
const REQUEST: ChatRequest = {
  model: 'm',
  system: [],
  messages: MESSAGES,
  tools: [],
  thinking: null,
  context_window: 8000,
  estimated_tokens: 10,
  max_output_tokens: null,
  attachments: new Map(),
};

describe('a conversation that begins with an answer', () => {
  it('begins with a user message where the vendor requires it, and loses nothing', () => {
    expect(toAnthropic(REQUEST, 'anthropic').body.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect(toGemini(REQUEST, 'gemini').map(({ role }) => role)).toEqual(['user', 'model', 'user']);
  });

  it('is unchanged if a user message begins it', () => {
    const request = { ...REQUEST, messages: MESSAGES.slice(1) };
    expect(toAnthropic(request, 'anthropic').body.messages).toHaveLength(1);
    expect(toGemini(request, 'gemini')).toHaveLength(1);
  });
});
