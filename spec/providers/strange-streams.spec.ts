import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { HiError } from '../../lib/errors.js';
import type { ProviderSettings } from '../../lib/providers/common/provider.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { sse, type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const usage = { input_tokens: 7, output_tokens: 3 };
/** "Whole." as each vendor says it to those who ask for no stream. */
const WHOLE: Readonly<Record<string, JsonObject>> = {
  'OpenAI Chat Completions': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Whole.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  },
  'OpenAI Responses': {
    object: 'response',
    status: 'completed',
    error: null,
    output: [{ type: 'message', id: 'msg', role: 'assistant', content: [{ type: 'output_text', text: 'Whole.' }] }],
    usage,
  },
  Anthropic: {
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Whole.' }],
    stop_reason: 'end_turn',
    usage,
  },
  Gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Whole.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 },
  },
};

const streamed = dialects.filter(({ provider }) => provider !== 'ollama');

describe.each(streamed.map((dialect) => [dialect.title, dialect] as const))('%s', (title, dialect) => {
  it.each([undefined, 2])('may answer without a stream (indented by %s)', async (indent) => {
    const got = await answered(dialect, { headers: JSON_TYPE, chunks: [JSON.stringify(WHOLE[title], null, indent)] });
    expect(got.error).toBeNull();
    expect(got.parts).toMatchObject([{ type: 'text', text: 'Whole.' }]);
    expect(got.end).toMatchObject({ stop_reason: 'end', usage: { input_tokens: 7, output_tokens: 3 } });
  });

  it.each<JsonObject>([
    { object: 'error', message: 'No slot is free.', type: 'ServerError', code: 500 },
    { detail: 'No slot is free.' },
    { status: 'failed', msg: 'No slot is free.' },
    { success: false, message: 'No slot is free.' },
  ])('is believed when it reports an error in its own format: %j', async (body) => {
    const got = await answered(dialect, { headers: JSON_TYPE, chunks: [JSON.stringify(body)] });
    expect((got.error as HiError).message).toContain('No slot is free.');
  });

  it.each([
    JSON.stringify({ error: { message: 'No slot is free.' } }),
    'data: {"error": {"message":"No slot is free."}}\n\n',
  ])('is believed when it reports a failure with status 200: %s', async (body) => {
    const got = await answered(dialect, { headers: JSON_TYPE, chunks: [body] });
    expect((got.error as HiError).code).toBe('overload');
    expect((got.error as HiError).message).toContain('No slot is free.');
  });

  it('is not believed to be a provider if it sends a web page, whatever its type', async () => {
    const got = await answered(dialect, { headers: {}, chunks: ['<!doctype html>\n<p>Log in: here</p>'] });
    expect(got.error).toMatchObject({ code: 'request', refused: { what: 'unsaid' }, retryable: false });
    expect((got.error as HiError).message).toContain('web page');
  });

  it.each([{ status: 204 }, { chunks: [] }, { chunks: ['data: [DONE]\n\n'] }])(
    'may send nothing at all, which is told: %j',
    async (answer) => {
      expect((await answered(dialect, answer)).error).toMatchObject({
        code: 'network',
        retryable: true,
        message: expect.stringMatching(/^[A-Z].* sent an empty answer\.$/),
      });
    },
  );

  it('may send keep-alives for some time, but not forever', async () => {
    const comments = { chunks: Array(20).fill(': wait\n\n') };
    const good = dialect.text('Hel', 'lo');
    const late = await answered(dialect, { chunks: [...comments.chunks, ...(good.chunks ?? [])] });
    expect(late.text).toBe('Hello');
    const never = await answered(dialect, { ...comments, end: 'again' }, { idleTimeout: 40 });
    expect(never.error).toMatchObject({
      code: 'network',
      retryable: false,
      message: expect.stringMatching(/ sent nothing /),
    });
  });

  it('may not send more than fits in memory before its first event', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const got = await answered(dialect, { chunks: ['data: ', megabyte], end: 'again' });
    expect(got.error).toMatchObject({ code: 'malformed', message: expect.stringContaining('32 MB') });
  });

  it('may omit the blank line after the last event', async () => {
    const good = dialect.text('Hel', 'lo');
    const body = (good.chunks ?? []).join('').trimEnd();
    const got = await answered(dialect, { ...good, chunks: [body] });
    expect(got.error).toBeNull();
    expect(got.parts).toMatchObject([{ type: 'text', text: 'Hello' }]);
  });

  it('may use any line ends, split an event, begin with a BOM, and send meaningless fields', async () => {
    const good = dialect.text('Hel', 'lo');
    const text = `: hello\n\ndata: null\n\ndata: 5\n\ndata:[]\n\ndata: {}\n\n${(good.chunks ?? []).join('')}`;
    const spread = text.replaceAll('data: {"', 'data:{\ndata:"');
    for (const end of ['\n', '\r\n', '\r']) {
      const got = await answered(dialect, { ...good, chunks: [`\uFEFF${spread.replaceAll('\n', end)}`] });
      expect(got.error).toBeNull();
      expect(got.text).toBe('Hello');
    }
  });
});

describe('an event in the wrong format', () => {
  const WRONG: Readonly<Record<string, readonly JsonObject[]>> = {
    'OpenAI Chat Completions': [{ choices: [{ delta: { tool_calls: { a: 1 } } }] }],
    'OpenAI Responses': [{ type: 'response.output_item.done' }, { type: 'response.completed' }],
    Anthropic: [{ type: 'message_start' }, { type: 'content_block_delta' }, { type: 'message_delta' }],
  };
  const cases = streamed.flatMap((dialect) => (WRONG[dialect.title] ?? []).map((event) => ({ dialect, event })));

  it.each(cases)("is reported as the server's fault: $dialect.title, $event", async ({ dialect, event }) => {
    const got = await answered(dialect, { chunks: [`data: ${JSON.stringify(event)}\n\n`] });
    expect(got.error).toMatchObject({ code: 'malformed' });
  });
});

// Gemini has no last event: whatever tells a finish reason may be followed by more.
const ended = dialects.filter(({ provider }) => provider !== 'gemini');

describe.each(ended.map((dialect) => [dialect.title, dialect] as const))('%s', (_, dialect) => {
  it('may keep the connection open after the answer', async () => {
    const open: VendorAnswer = { ...dialect.text('Hel', 'lo'), end: 'never' };
    const got = await answered(dialect, open, { idleTimeout: 3_600_000 });
    expect(got).toMatchObject({ error: null, text: 'Hello', end: { stop_reason: 'end' } });
  });
});

async function answered(dialect: Dialect, answer: VendorAnswer, settings: Partial<ProviderSettings> = {}) {
  await using server = await vendorServer(answer);
  const provider = await adapter(dialect.provider, `${server.url}${dialect.path}`, {
    ...dialect.settings,
    ...settings,
  });
  return await ask(provider, chatRequest());
}

describe('a server of Chat Completions', () => {
  const chat = dialects.find(({ title }) => title === 'OpenAI Chat Completions');
  if (chat === undefined) throw new Error('There is none.');
  const piece = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = { type: 'tool_call', name: 'bash', args: { command: 'ls' } };

  it.each<[string, VendorAnswer, readonly JsonObject[]]>([
    [
      'that leaves the thinking in the text',
      sse(piece({ content: '<thi' }), piece({ content: 'nk>Hm.</think>\n\nHello.' }), piece({}, 'stop')),
      [
        { type: 'thinking', text: 'Hm.' },
        { type: 'text', text: 'Hello.' },
      ],
    ],
    [
      'that says all of it once more at the end',
      sse(piece({ content: 'Hello.' }), {
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      }),
      [{ type: 'text', text: 'Hello.' }],
    ],
    [
      'that knows the older API',
      sse({ choices: [{ index: 0, text: 'Hello.', finish_reason: 'stop' }] }),
      [{ type: 'text', text: 'Hello.' }],
    ],
    [
      'that writes one object a line',
      {
        headers: JSON_TYPE,
        chunks: [piece({ content: 'Hel' }), piece({ content: 'lo.' }, 'stop')].map((one) => `${JSON.stringify(one)}\n`),
      },
      [{ type: 'text', text: 'Hello.' }],
    ],
    [
      'that calls functions',
      sse(
        piece({ function_call: { name: 'bash', arguments: '{"command":' } }),
        piece({ function_call: { arguments: '"ls"}' } }),
        piece({}, 'function_call'),
      ),
      [call],
    ],
    [
      'that quotes the arguments twice',
      sse(
        piece({
          tool_calls: [{ index: 0, id: 'c', function: { name: 'bash', arguments: '"{\\"command\\":\\"ls\\"}"' } }],
        }),
        piece({}, 'tool_calls'),
      ),
      [call],
    ],
  ])('%s is understood', async (_what, answer, parts) => {
    const got = await answered(chat, answer);
    expect(got.error).toBeNull();
    expect(got.parts).toMatchObject(parts);
    expect(got.parts).toHaveLength(parts.length);
  });
});

it('Ollama may leave the thinking in the text', async () => {
  const ollama = dialects.find(({ provider }) => provider === 'ollama');
  if (ollama === undefined) throw new Error('There is none.');
  const got = await answered(ollama, ollama.text('<think>', 'Hm.</thi', 'nk>\n\nHel', 'lo.'));
  expect(got.error).toBeNull();
  expect(got.parts).toEqual([
    { type: 'thinking', text: 'Hm.', opaque: { field: 'content' } },
    { type: 'text', text: 'Hello.' },
  ]);
});
