import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { AnswerPart, StopReason, Usage } from '../../lib/chat/message.js';
import { HiError } from '../../lib/errors.js';
import { adapter, ask, chatRequest, type Outcome } from '../support/providers.js';
import { broken } from '../support/vendor-rules.js';
import { ALL_RECORDINGS, type Recording, type ReplayOptions, replaying, withRecordings } from './recordings.js';

/** In small pieces only what is soon sent, unless everything is asked for (npm run unit:bytes). */
const [SHORT, MEDIUM] = process.env.HI_ALL_BYTES ? [1e9, 1e9] : [800, 6000];

const streams = ALL_RECORDINGS.filter(({ response, expect }) => response.chunks && !isBroken(expect.stopReason));

withRecordings(() => {
  describe.each(streams.map((recording) => [recording.id, recording] as const))('%s', (_, recording) => {
    it('gives the recorded answer', async () => {
      expectAnswer(await replayed(recording), recording);
    });

    const bytes = Buffer.byteLength(recording.response.chunks?.join('') ?? '');
    if (bytes <= MEDIUM) {
      it('gives the same in chunks of 7 bytes', async () => {
        expectAnswer(await replayed(recording, { split: 7 }), recording);
      });
    }

    if (bytes <= SHORT) {
      it('gives the same in chunks of one byte', async () => {
        expectAnswer(await replayed(recording, { split: 1 }), recording);
      });
    }
    if (bytes <= 1500) {
      it('gives the same when it arrives slowly', async () => {
        expectAnswer(await replayed(recording, { split: 40, delay: 2, firstDelay: 5 }), recording);
      });
    }
  });

  it('never offers an invalid call to be run', async () => {
    for (const recording of ALL_RECORDINGS.filter((one) => one.response.chunks && isBroken(one.expect.stopReason))) {
      const got = await replayed(recording);
      expect(got.parts.filter((part) => part.type === 'tool_call')).toEqual([]);
      expect(got.error).toMatchObject({ code: 'malformed' });
    }
  });
});

async function replayed(recording: Recording, options: Partial<ReplayOptions> = {}): Promise<Outcome> {
  return replaying({ recordings: [recording], ...options }, recording, async (base, server) => {
    const provider = await adapter(recording.provider, base, {
      options: { api: recording.api === 'responses' ? 'responses' : 'auto' },
    });
    const got = await ask(provider, chatRequest({ model: modelOf(recording) }));
    for (const { body } of server.requests) expect(broken(recording.api, body)).toEqual([]);
    return got;
  });
}

function expectAnswer(got: Outcome, recording: Recording): void {
  const expected = recording.expect;
  expect(got.text).toBe(expected.text);
  expect(got.thinking).toBe(expected.thinking ?? '');
  if (expected.stopReason === null && expected.error !== undefined) {
    expect(got.error).toBeInstanceOf(HiError);
    expect(got.end).toBeNull();
    return;
  }
  if (expected.stopReason === 'failed') {
    expect(got.error).toBeInstanceOf(HiError);
    return;
  }
  expect(got.error).toBeNull();
  const calls = got.parts.filter((part) => part.type === 'tool_call');
  expect(calls.map(({ name, args }) => ({ name, args }))).toEqual(
    expected.toolCalls.map(({ name, args }) => ({ name, args })),
  );
  expect(calls.filter((part) => part.invalid_args !== undefined)).toEqual([]);
  for (const [at, { id }] of expected.toolCalls.entries()) if (id !== undefined) expect(calls[at]?.call_id).toBe(id);
  expect(wordsOf(got.parts, 'text')).toBe(expected.text);
  expect(wordsOf(got.parts, 'thinking')).toBe(expected.thinking ?? '');
  expect(got.end?.stop_reason).toBe(stopReason(recording));
  expect(countsOf(got.end?.usage)).toEqual(usageOf(recording));
  const opaque = JSON.stringify(got.parts);
  for (const signed of expected.opaque ?? []) expect(opaque).toMatch(lengthPattern(signed));
}

function wordsOf(parts: readonly AnswerPart[], type: 'text' | 'thinking'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}

function modelOf({ request }: Recording): string {
  const model = request.body?.model ?? /models\/([^:]+):/.exec(request.path)?.[1];
  return typeof model === 'string' ? model : 'test-model';
}

/** The token counts, without what else decides the price. */
function countsOf(usage: Usage | null | undefined): Omit<Usage, 'billing'> | null {
  if (!usage) return null;
  const { billing: _, ...counts } = usage;
  return counts;
}

/** Signatures are told by their length. */
function lengthPattern({ signatureLength, encryptedContentLength }: JsonObject): RegExp {
  const length = signatureLength ?? encryptedContentLength;
  return new RegExp(`"(?:signature|thoughtSignature|encrypted_content)":"[^"]{${length}}"`);
}

function isBroken(word: string | null): boolean {
  return word === 'UNEXPECTED_TOOL_CALL' || word === 'MALFORMED_FUNCTION_CALL';
}

function stopReason({ expect: { stopReason: word, toolCalls } }: Recording): StopReason {
  if (word === null && toolCalls.length === 0) return 'refusal';
  if (word === 'content_filter' || word === 'SAFETY' || word === 'refusal') return 'refusal';
  if (word === 'length' || word === 'max_tokens' || word === 'MAX_TOKENS' || word?.startsWith('incomplete:max'))
    return 'length';
  return toolCalls.length > 0 ? 'tool_calls' : 'end';
}

function usageOf({ vendor, expect: { usage } }: Recording): Usage | null {
  if (usage?.inputTokens === undefined || usage.inputTokens === null) return null;
  const cached_tokens = usage.cachedInputTokens ?? 0;
  const apart = vendor === 'anthropic' ? cached_tokens + (usage.cacheWriteTokens ?? 0) : 0;
  const input_tokens = usage.inputTokens + apart;
  const output_tokens = (usage.outputTokens ?? 0) + (vendor === 'google' ? (usage.reasoningTokens ?? 0) : 0);
  return { input_tokens, output_tokens, cached_tokens, context_tokens: input_tokens + output_tokens };
}
