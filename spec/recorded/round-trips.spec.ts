import { expect, it } from '@jest/globals';
import type { ChatRequest } from '../../lib/chat/request.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { broken } from '../support/vendor-rules.js';
import { ALL_RECORDINGS, type Recording, replaying, withRecordings } from './recordings.js';

const turns = ALL_RECORDINGS.filter(({ id }) => id.endsWith('.1')).flatMap((first) => {
  const second = ALL_RECORDINGS.find(({ id }) => id === first.id.replace(/\.1$/, '.2'));
  return second ? [{ first, second }] : [];
});

withRecordings(() => {
  it.each(turns.map((turn) => [turn.first.id.replace(/\.1$/, ''), turn] as const))(
    '%s goes on after its tool results, with everything signed sent back',
    async (_, { first, second }) => {
      await replaying({ recordings: [first, second] }, first, async (base, server) => {
        const api = first.api === 'responses' ? 'responses' : 'auto';
        const provider = await adapter(first.provider, base, { options: { api } });
        const model = modelOf(first);
        const opening = chatRequest({ model, tools: [TOOL] });
        const asked = await ask(provider, opening);
        const calls = asked.parts.filter((part) => part.type === 'tool_call');
        const messages: ChatRequest['messages'] = [
          ...opening.messages,
          // What the history file does to a message.
          JSON.parse(JSON.stringify({ role: 'assistant', content: asked.parts, provider: first.provider, model })),
          {
            role: 'tool',
            content: calls.map(({ call_id, name }) => ({ type: 'tool_result', call_id, name, result: '40 C' })),
          },
        ];
        const answered = await ask(provider, { ...opening, messages });
        expect(answered.error).toBeNull();
        expect(answered.text).toBe(second.expect.text);
        const sent = server.requests.at(-1)?.body ?? {};
        expect(broken(first.api, sent)).toEqual([]);
        for (const signature of signaturesIn(first)) expect(JSON.stringify(sent)).toContain(signature);
      });
    },
  );
});

const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };

function modelOf({ request }: Recording): string {
  return String(request.body?.model ?? /models\/([^:]+):/.exec(request.path)?.[1] ?? 'test-model');
}

/**
 * Every signature and encrypted reasoning of a recording that the vendor wants back. OpenAI sends a reasoning item
 * thrice, encrypted anew; the whole one counts.
 */
function signaturesIn({ response, expect: { opaque = [] } }: Recording): string[] {
  const chunks = response.chunks?.filter((chunk) => !/^event: response\.(?!output_item\.done)/.test(chunk)) ?? [];
  const found = [
    ...chunks.join('').matchAll(/"(?:signature|thoughtSignature|encrypted_content)"\s*:\s*"([^"]+)"/g),
  ].map(([, value = '']) => value);
  const lengths = new Set(opaque.map((part) => part.signatureLength ?? part.encryptedContentLength));
  return found.filter((value) => lengths.has(value.length));
}
