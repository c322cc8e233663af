import { describe, expect, it } from '@jest/globals';
import { RequestRefusal } from '../../lib/providers/common/provider.js';
import { adapter, ask, chatRequest, type Outcome } from '../support/providers.js';
import { namedSse, ndjson, sse, type VendorAnswer, vendorServer } from '../support/vendor-server.js';

/** An answer that ends for a reason, as each vendor's protocol says it. */
const ENDINGS: Readonly<Record<string, (reason: string) => VendorAnswer>> = {
  openai: (finish_reason) =>
    sse(
      { choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }] },
      '[DONE]',
    ),
  anthropic: (stop_reason) =>
    namedSse(
      {
        type: 'message_start',
        message: { id: 'm', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Half' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  ollama: (done_reason) =>
    ndjson(
      { message: { role: 'assistant', content: 'Half' }, done: false },
      { message: { content: '' }, done: true, done_reason },
    ),
};

async function ended(provider: string, answer: VendorAnswer): Promise<Outcome> {
  await using server = await vendorServer(answer);
  return await ask(await adapter(provider, server.url, { options: { api: 'chat' } }), chatRequest());
}

describe.each(Object.entries(ENDINGS))('an answer by %s', (provider, ending) => {
  it.each(['abort', 'aborted', 'cancelled', 'insufficient_system_resource', 'network_error', 'timeout', 'ERROR'])(
    'that was broken off (%s) is an error beside the part that came',
    async (reason) => {
      const got = await ended(provider, ending(reason));
      expect(got.text).toBe('Half');
      expect(got.end).toBeNull();
      expect(got.error).toMatchObject({ code: 'overload', retryable: true });
      expect((got.error as Error).message).toMatch(reason === 'ERROR' ? /stopped with an error/ : reason);
    },
  );

  it.each([
    ['sensitive', 'refusal'],
    ['content_filtered', 'refusal'],
    ['guardrail_intervened', 'refusal'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['context_window_exceeded', 'length'],
    ['stop', 'end'],
    ['eos_token', 'end'],
  ])('that ends by "%s" ended by %s', async (reason, stop_reason) => {
    expect(await ended(provider, ending(reason))).toMatchObject({ error: null, end: { stop_reason } });
  });
});

describe('a finish reason of a gateway', () => {
  it('that means an error includes the message of the error after it', async () => {
    const { chunks = [], ...rest } = sse(
      { choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: 'error' }] },
      { error: { message: 'The worker died.' } },
    );
    const got = await ended('openai', { ...rest, chunks });
    expect((got.error as Error).message).toContain('The worker died.');
  });
});

describe('a malformed call of Gemini', () => {
  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
    'may be due to what was sent: %s',
    async (finishReason) => {
      const got = await ended('gemini', sse({ candidates: [{ index: 0, content: {}, finishReason }] }));
      expect(got.error).toBeInstanceOf(RequestRefusal);
      expect(got.error).toMatchObject({
        code: 'malformed',
        retryable: true,
        refused: { what: 'unsaid', isCertain: false },
      });
    },
  );

  it.each(['MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE'])(
    'that is the whole answer is worth one more try: %s',
    async (finishReason) => {
      const got = await ended('gemini', sse({ candidates: [{ index: 0, content: {}, finishReason }] }));
      expect(got.error).toMatchObject({ code: 'malformed', retryable: true, retries: 1 });
    },
  );
});
