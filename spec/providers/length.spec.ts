import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { namedSse, sse, type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const ARGS = { path: 'a.txt', content: 'half of it' };

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('%s', (_, dialect) => {
  it('returns a call cut by the length limit as invalid, and the text before it', async () => {
    const got = await answered(dialect, dialect.cutCall('Let me write.', 'write_file', ARGS));
    expect(got.end).toMatchObject({ stop_reason: 'length' });
    expect(got.text).toBe('Let me write.');
    expect(got.parts).toMatchObject([
      { type: 'text', text: 'Let me write.' },
      { type: 'tool_call', name: 'write_file', args: {}, invalid_args: expect.stringContaining('half of i') },
    ]);
  });

  it('returns a call whose arguments had not begun as invalid', async () => {
    const got = await answered(dialect, dialect.cutCall('', 'write_file', {}));
    expect(got.parts).toMatchObject([{ type: 'tool_call', args: {}, invalid_args: expect.anything() }]);
  });
});

const responses = dialects.find(({ title }) => title === 'OpenAI Responses');
const anthropic = dialects.find(({ title }) => title === 'Anthropic');
const chat = dialects.find(({ title }) => title === 'OpenAI Chat Completions');

describe('a call cut by the length limit', () => {
  it('may arrive as a finished item, from the Responses API', async () => {
    const item = {
      type: 'function_call',
      id: 'fc',
      call_id: 'c',
      name: 'bash',
      arguments: '{"comm',
      status: 'incomplete',
    };
    const answer = namedSse(
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
    );
    const got = await answered(responses, answer);
    expect(got.parts).toMatchObject([{ type: 'tool_call', name: 'bash', invalid_args: '{"comm' }]);
    expect(got.end).toMatchObject({ stop_reason: 'length' });
  });

  it('may lack the end of its block, from Anthropic', async () => {
    const whole = anthropic?.cutCall('Text.', 'write_file', ARGS);
    const chunks = (whole?.chunks ?? []).filter((chunk) => !`${chunk}`.includes('"content_block_stop","index":1'));
    const got = await answered(anthropic, { ...whole, chunks });
    expect(got.parts).toMatchObject([{ type: 'text' }, { type: 'tool_call', invalid_args: expect.any(String) }]);
  });

  it.each(['length', 'model_length', 'max_tokens', 'MAX_TOKENS'])(
    'is told by "%s" in Chat Completions',
    async (word) => {
      const call = { index: 0, id: 'c', function: { name: 'bash', arguments: '{"comm' } };
      const answer = sse(chunk({ tool_calls: [call] }), chunk({}, word), '[DONE]');
      expect((await answered(chat, answer)).end).toMatchObject({ stop_reason: 'length' });
    },
  );

  it('does not affect the calls before it', async () => {
    const whole = { index: 0, id: 'a', function: { name: 'bash', arguments: '{"command":"ls"}' } };
    const cut = { index: 1, id: 'b', function: { name: 'bash', arguments: '{"comm' } };
    const got = await answered(chat, sse(chunk({ tool_calls: [whole, cut] }), chunk({}, 'length'), '[DONE]'));
    expect(got.parts).toEqual([
      { type: 'tool_call', call_id: 'a', name: 'bash', args: { command: 'ls' } },
      { type: 'tool_call', call_id: 'b', name: 'bash', args: {}, invalid_args: '{"comm' },
    ]);
  });
});

function chunk(delta: JsonObject, finish_reason: string | null = null): JsonObject {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

async function answered(dialect: Dialect | undefined, answer: VendorAnswer) {
  if (dialect === undefined) throw new Error('There is no such dialect.');
  await using server = await vendorServer(answer);
  const provider = await adapter(dialect.provider, `${server.url}${dialect.path}`, dialect.settings);
  return await ask(provider, chatRequest());
}
