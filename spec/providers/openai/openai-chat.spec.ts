import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../lib/chat/json.js';
import { adapter, ask, chatRequest } from '../../support/providers.js';
import { sse, vendorServer } from '../../support/vendor-server.js';

const call = (piece: JsonObject): JsonObject => ({
  choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }],
});
const say = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe('a compatible server', () => {
  it('may omit the finish reason after whole tool calls', async () => {
    const got = await answered(call({ index: 0, id: '0', function: { name: 'now', arguments: '{}' } }), '[DONE]');
    expect(got.parts).toEqual([{ type: 'tool_call', call_id: '0', name: 'now', args: {} }]);
    expect(got.end?.stop_reason).toBe('tool_calls');
  });

  it('may not omit it after half a tool call, or after text', async () => {
    for (const last of [
      call({ index: 0, id: '0', function: { name: 'now', arguments: '{"a"' } }),
      say({ content: 'Hello' }),
    ]) {
      const got = await answered(last, '[DONE]');
      expect(got.parts).toEqual([]);
      expect(got.error).toMatchObject({ code: 'network' });
    }
  });

  it('may send an empty finish reason with every chunk', async () => {
    const cut = await answered(say({ content: 'Hello' }, ''), say({ content: ' there' }, ''));
    expect(cut.error).toMatchObject({ code: 'network', message: expect.stringContaining('cut off') });
    const whole = await answered(say({ content: 'Hello' }, ''), say({}, 'stop'), '[DONE]');
    expect(whole).toMatchObject({ error: null, parts: [{ type: 'text', text: 'Hello' }], end: { stop_reason: 'end' } });
  });

  it('may repeat a name, send null arguments, count from 1, and revoke the finish reason', async () => {
    const got = await answered(
      call({ index: 1, id: 'a', function: { name: 'now', arguments: null } }),
      call({ index: 1, id: 'a', function: { name: 'now', arguments: '' } }),
      say({}, 'tool_calls'),
      say({}),
      '[DONE]',
    );
    expect(got.parts).toEqual([{ type: 'tool_call', call_id: 'a', name: 'now', args: {} }]);
    expect(got.end?.stop_reason).toBe('tool_calls');
  });

  it('may give every call the index 0, and send arguments as an object', async () => {
    const got = await answered(
      call({ index: 0, id: 'a', function: { name: 'one', arguments: { x: 1 } } }),
      call({ index: 0, id: 'b', function: { name: 'two', arguments: '{"y":2}' } }),
      say({}, 'stop'),
      '[DONE]',
    );
    expect(got.parts).toMatchObject([
      { name: 'one', args: { x: 1 } },
      { name: 'two', args: { y: 2 } },
    ]);
    expect(got.end?.stop_reason).toBe('tool_calls');
  });

  it('may send no ids, or numbers, and nothing in place of a call', async () => {
    const got = await answered(
      call({ function: { name: 'one', arguments: '{"x":1}' } }),
      call({ function: { name: 'one', arguments: '{"x":2}' } }),
      { choices: [{ delta: { tool_calls: [null] } }] },
      call({ index: 3, id: 7, function: { name: 'two', arguments: '{}' } }),
      say({}, 'tool_calls'),
    );
    expect(got.error).toBeNull();
    expect(got.parts).toMatchObject([
      { name: 'one', args: { x: 1 } },
      { name: 'one', args: { x: 2 } },
      { name: 'two', call_id: '7' },
    ]);
  });

  it('may send its content as blocks, as Mistral does for models that think', async () => {
    const got = await answered(
      say({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      say({ content: [{ type: 'text', text: 'Hi' }] }),
      say({ content: '!' }, 'stop'),
    );
    expect(got.parts).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hi!' },
    ]);
  });

  it('may send its usage as strings, and report a failure as its finish reason', async () => {
    const usage = { prompt_tokens: '7', completion_tokens: null };
    expect((await answered(say({ content: 'Hi' }, 'stop'), { choices: [], usage })).end?.usage).toEqual({
      input_tokens: 7,
      output_tokens: 0,
      cached_tokens: 0,
      context_tokens: 7,
    });
    const failed = await answered(say({ content: 'Hi' }), say({}, 'error'));
    expect(failed.error).toMatchObject({ code: 'overload' });
  });

  it('may send chunks without choices, and comments', async () => {
    const got = await answered({ choices: [] }, {}, say({ content: 'Hi' }), say({}, 'stop'), '[DONE]');
    expect(got.text).toBe('Hi');
    expect(got.error).toBeNull();
  });

  it('may add an error to an answer that is already finished', async () => {
    const got = await answered(say({ content: 'Hi' }), say({}, 'length'), {
      error: { code: 400, message: 'Token limit reached' },
    });
    expect(got.end).toMatchObject({ stop_reason: 'length', detail: 'Token limit reached' });
    expect(got.parts).toEqual([{ type: 'text', text: 'Hi' }]);
  });
});

describe('arguments that are not a JSON object', () => {
  it.each(['{"path": "a', '[1]', 'path=a', '"a"'])('are kept aside and not run: %s', async (args) => {
    const got = await answered(
      call({ index: 0, id: 'a', function: { name: 'now', arguments: args } }),
      say({}, 'tool_calls'),
      '[DONE]',
    );
    expect(got.parts).toEqual([{ type: 'tool_call', call_id: 'a', name: 'now', args: {}, invalid_args: args }]);
  });
});

describe('a refusal', () => {
  it("is the model's text, and its stop reason", async () => {
    const got = await answered(say({ refusal: "I can't " }), say({ refusal: 'do that.' }), say({}, 'stop'), '[DONE]');
    expect(got.text).toBe("I can't do that.");
    expect(got.end?.stop_reason).toBe('refusal');
  });

  it('by a content filter says so', async () => {
    const got = await answered(say({ content: 'Well' }), say({}, 'content_filter'), '[DONE]');
    expect(got.end).toMatchObject({ stop_reason: 'refusal', detail: 'The content filter stopped the answer.' });
  });
});

describe('reasoning', () => {
  it('is sent back under its name in a turn with tool calls, then and later', async () => {
    const answer = sse(
      say({ reasoning_content: 'Hm, ' }),
      say({ reasoning_content: 'so.' }),
      call({ index: 0, id: 'a', function: { name: 'now', arguments: '{}' } }),
      say({}, 'tool_calls'),
    );
    await using server = await vendorServer(answer);
    const provider = await adapter('openai', `${server.url}/v1`);
    const { parts } = await ask(provider, chatRequest());
    const question = chatRequest().messages;
    const messages = [
      ...question,
      { role: 'assistant', content: parts, provider: 'openai', model: 'test-model' } as const,
      { role: 'tool', content: [{ type: 'tool_result', call_id: 'a', name: 'now', result: 'noon' }] } as const,
    ];
    await ask(provider, chatRequest({ messages }));
    await ask(provider, chatRequest({ messages: [...messages, ...question] }));
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"reasoning_content":"Hm, so."');
    expect(JSON.stringify(server.requests[2]?.body)).toContain('"reasoning_content":"Hm, so."');
  });

  it('in details and signatures of other vendors is sent back unchanged, joined', async () => {
    const answer = sse(
      say({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Hm', signature: null }] }),
      say({ reasoning: '.', reasoning_details: [{ type: 'reasoning.text', index: 0, text: '.', signature: 'SIG' }] }),
      call({
        index: 0,
        id: 'a',
        function: { name: 'now', arguments: '{}' },
        extra_content: { google: { thought_signature: 'TS' } },
      }),
      say({}, 'tool_calls'),
    );
    await using server = await vendorServer(answer);
    const provider = await adapter('openai', `${server.url}/v1`);
    const { parts } = await ask(provider, chatRequest());
    await ask(
      provider,
      chatRequest({
        messages: [
          ...chatRequest().messages,
          { role: 'assistant', content: parts, provider: 'openai', model: 'test-model' },
          { role: 'tool', content: [{ type: 'tool_result', call_id: 'a', name: 'now', result: 'noon' }] },
        ],
      }),
    );
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        {},
        {
          reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Hm.', signature: 'SIG' }],
          tool_calls: [{ extra_content: { google: { thought_signature: 'TS' } } }],
        },
        {},
      ],
    });
  });
});

async function answered(...data: readonly (JsonObject | string)[]) {
  await using server = await vendorServer(sse(...data));
  return await ask(await adapter('openai', `${server.url}/v1`), chatRequest());
}
