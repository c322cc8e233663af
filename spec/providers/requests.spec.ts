import { describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import type { ImagePart } from '../../lib/chat/message.js';
import { THINKING_LEVELS, type ThinkingLevel } from '../../lib/chat/model.js';
import type { ChatRequest, ToolSpec } from '../../lib/chat/request.js';
import { FREE_FORM } from '../../lib/providers/common/normalise-history.js';
import { toVendorRequest } from '../../lib/providers/openai/openai-responses-request.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const each = describe.each(dialects.map((dialect) => [dialect.title, dialect] as const));
const [chat, responses, anthropic, gemini, ollama] = dialects;

const LIST: ToolSpec = {
  name: 'list_files',
  description: 'Lists a folder.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
};
const PICTURE: ImagePart = { type: 'image', mime: 'image/png', sha256: 'aa', bytes: 3, name: 'cat.png' };
const BYTES = new Map([
  ['aa', Uint8Array.from([1, 2, 3])],
  ['bb', Uint8Array.from([4, 5, 6])],
]);
const BLOCKS = ['You are hi.', 'Skill: git.', '[Compressed Message Summary] Earlier.'];

each('a request to %s', (_, dialect) => {
  it('contains the system blocks in order before the conversation, in one message if a template requires it', async () => {
    const body = await sent(dialect, chatRequest({ system: BLOCKS }));
    const text = JSON.stringify(body);
    const places = [...BLOCKS.map((block) => text.indexOf(block))];
    expect(places.every((place) => place >= 0)).toBe(true);
    expect([...places].sort((one, other) => one - other)).toEqual(places);
    const messages = body.messages ?? body.input;
    const systems = Array.isArray(messages) ? messages.filter((one) => isJsonObject(one) && one.role === 'system') : [];
    expect(systems).toHaveLength(dialect === anthropic || dialect === gemini ? 0 : 1);
  });

  it('describes the tools with their schema, and none when there are none', async () => {
    const text = JSON.stringify(await sent(dialect, chatRequest({ tools: [LIST] })));
    expect(text).toContain('"list_files"');
    expect(text).toContain('"Lists a folder."');
    expect(text).toContain('"additionalProperties":false');
    expect(await sent(dialect, chatRequest())).not.toHaveProperty('tools');
  });

  it('extends the previous request byte for byte', async () => {
    const first = chatRequest({ system: BLOCKS, tools: [LIST] });
    const answer = {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi.' }],
      provider: dialect.provider,
      model: 'test-model',
    } as const;
    const second = { ...first, messages: [...first.messages, answer, ...first.messages] };
    const [one, other] = [withoutMarks(await sent(dialect, first)), withoutMarks(await sent(dialect, second))];
    const key = ['messages', 'input', 'contents'].find((name) => name in one) ?? '';
    expect({ ...other, [key]: null }).toEqual({ ...one, [key]: null });
    const [before, after] = [JSON.stringify(one[key]), JSON.stringify(other[key])];
    expect(after.startsWith(before.slice(0, -1))).toBe(true);
  });

  it('limits the answer only if requested', async () => {
    const limited = JSON.stringify(await sent(dialect, chatRequest({ max_output_tokens: 4321 })));
    expect(limited).toContain('4321');
    if (dialect !== anthropic)
      expect(JSON.stringify(await sent(dialect, chatRequest()))).not.toMatch(/max_|max[A-Z]|num_predict/);
  });

  it('says if an attachment is gone', async () => {
    const messages: ChatRequest['messages'] = [{ role: 'user', content: [{ ...PICTURE, sha256: 'gone' }] }];
    expect(JSON.stringify(await sent(dialect, chatRequest({ messages })))).toContain('cat.png is no longer there');
  });
});

describe('an image', () => {
  const request = chatRequest({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, PICTURE] }],
    attachments: BYTES,
  });

  it.each([
    [
      chat,
      {
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
        ],
      },
    ],
    [
      responses,
      {
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'auto' },
        ],
      },
    ],
    [
      anthropic,
      {
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } },
        ],
      },
    ],
    [gemini, { parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: 'AQID' } }] }],
    [ollama, { content: 'What is it?', images: ['AQID'] }],
  ])("is sent in its vendor's format (%#)", async (dialect, form) => {
    expect(lastMessage(await sent(dialect, request))).toMatchObject(form);
  });
});

describe('a PDF', () => {
  const request = chatRequest({
    messages: [
      { role: 'user', content: [{ type: 'document', mime: 'application/pdf', sha256: 'bb', bytes: 3, name: 'a.pdf' }] },
    ],
    attachments: BYTES,
  });

  it.each([
    [chat, { content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BAUG' } }] }],
    [
      responses,
      { content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BAUG' }] },
    ],
    [
      anthropic,
      {
        content: [
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BAUG' }, title: 'a.pdf' },
        ],
      },
    ],
    [gemini, { parts: [{ inlineData: { mimeType: 'application/pdf', data: 'BAUG' } }] }],
  ])("is sent in its vendor's format (%#)", async (dialect, form) => {
    expect(lastMessage(await sent(dialect, request))).toMatchObject(form);
  });
});

describe('thinking', () => {
  const set = async (dialect: Dialect | undefined, model: string, thinking: ThinkingLevel | null) =>
    sent(dialect, chatRequest({ model, thinking }));

  it('is left to the vendor if nobody set it', async () => {
    for (const dialect of dialects) {
      const text = JSON.stringify(await set(dialect, 'test-model', null));
      expect(text).not.toMatch(/"(?:reasoning|reasoning_effort|thinking|output_config|thinkingConfig|think)"/);
    }
  });

  it('is shown by each Claude that thinks without being asked, unless its server refuses that', async () => {
    for (const model of ['claude-sonnet-5-5', 'claude-opus-5', 'claude-fable-5-1', 'anthropic/claude-haiku-5-5'])
      expect(await set(anthropic, model, null)).toMatchObject({
        thinking: { type: 'adaptive', display: 'summarized' },
      });
    for (const model of ['claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-3-5-haiku-latest', 'deepseek-v4-pro'])
      expect(await set(anthropic, model, null)).not.toHaveProperty('thinking');
    const facts = { takes: { extras: false } };
    const refused = await sent(anthropic, chatRequest({ model: 'claude-sonnet-5-5', thinking: null, facts }));
    expect(refused).not.toHaveProperty('thinking');
  });

  it('is an effort for OpenAI', async () => {
    expect(await set(chat, 'gpt-5.4', 'high')).toMatchObject({ reasoning_effort: 'high' });
    expect(await set(responses, 'gpt-5.4', 'low')).toMatchObject({ reasoning: { effort: 'low', summary: 'auto' } });
    expect(await set(responses, 'gpt-5.4', 'off')).toMatchObject({ reasoning: { effort: 'none' } });
    expect(await set(responses, 'gpt-5-mini', 'off')).toMatchObject({ reasoning: { effort: 'minimal' } });
    expect(await set(responses, 'o3', 'off')).toMatchObject({ reasoning: { effort: 'low' } });
  });

  it.each([
    ['gpt-5.4', 'none low medium high xhigh xhigh'],
    ['gpt-6.1-sol', 'low low medium high xhigh max'],
    ['gpt-6.1-terra', 'low low medium high xhigh max'],
    ['gpt-6-luna', 'none low medium high xhigh max'],
    ['gpt-5.1', 'none low medium high high high'],
    ['gpt-5.1-codex-max', 'low low medium high xhigh xhigh'],
    ['gpt-5-codex', 'low low medium high high high'],
    ['gpt-5-pro', 'high high high high high high'],
    ['gpt-5.4-pro', 'medium medium medium high xhigh xhigh'],
    ['o3', 'low low medium high high high'],
    ['openai/gpt-oss-120b', 'low low medium high high high'],
    ['qwen3-8b', 'none low medium high xhigh max'],
  ])('is an effort that the model supports: %s', async (model, efforts) => {
    const sentAs = async (level: ThinkingLevel) => (await set(chat, model, level)).reasoning_effort;
    expect((await Promise.all(THINKING_LEVELS.map(sentAs))).join(' ')).toBe(efforts);
  });

  it('is not requested from OpenAI models without it', async () => {
    for (const model of ['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest']) {
      const body = await set(responses, model, 'high');
      expect(body).not.toHaveProperty('reasoning');
      expect(body).not.toHaveProperty('include');
      expect(await set(chat, model, 'high')).not.toHaveProperty('reasoning_effort');
    }
    expect(await set(responses, 'gpt-5.4', null)).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
    });
  });

  it('is an effort for Claude since 4.6, a budget before', async () => {
    expect(await set(anthropic, 'claude-sonnet-5-5', 'medium')).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    });
    expect(await set(anthropic, 'claude-opus-4-6', 'high')).toMatchObject({ thinking: { type: 'adaptive' } });
    for (const model of [
      'claude-haiku-4-5',
      'claude-opus-4-1-20250805',
      'claude-sonnet-4-20250514',
      'claude-3-7-sonnet-20250219',
    ]) {
      const { thinking, max_tokens } = await set(anthropic, model, 'high');
      expect(thinking).toEqual({ type: 'enabled', budget_tokens: 24_000 });
      expect(Number(max_tokens)).toBeGreaterThan(24_000);
    }
    expect(await set(anthropic, 'claude-haiku-4-5', 'off')).toMatchObject({ thinking: { type: 'disabled' } });
  });

  it('is a level for Gemini since 3, a budget before', async () => {
    expect(await set(gemini, 'gemini-3.1-pro-preview', 'high')).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } },
    });
    for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro', 'gemma-3-27b-it']) {
      expect(JSON.stringify(await set(gemini, model, 'high'))).not.toContain('thinkingConfig');
    }
    expect(await set(gemini, 'gemini-2.5-flash', 'off')).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } },
    });
  });

  it('is a switch or a level for Ollama', async () => {
    expect(await set(ollama, 'qwen3', 'off')).toMatchObject({ think: false });
    for (const level of ['low', 'high', 'max'] as const)
      expect(await set(ollama, 'qwen3', level)).toMatchObject({ think: true });
    expect(await set(ollama, 'gpt-oss', 'low')).toMatchObject({ think: 'low' });
    expect(await set(ollama, 'gpt-oss:20b', 'off')).toMatchObject({ think: 'low' });
    expect(await set(ollama, 'gpt-oss:20b', 'max')).toMatchObject({ think: 'high' });
  });
});

/** The words beside a call, and a user who speaks before they were answered. */
const LOOKED: ChatRequest['messages'] = [
  { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_call', call_id: 'a', name: 'list_files', args: {} },
    ],
  },
  { role: 'tool', content: [{ type: 'tool_result', call_id: 'a', name: 'list_files', result: 'ok' }] },
  { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
];

/** What each message of a request to the Messages API is made of. */
function kindsOf({ messages }: JsonObject): string[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isJsonObject).map(({ role, content }) => {
    const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
    return `${role}: ${blocks.map(({ type }) => type).join(' ')}`;
  });
}

describe('Anthropic', () => {
  it('is told to cache after the stable prefix, after the system text and at the end', async () => {
    const body = await sent(anthropic, chatRequest({ model: 'claude-sonnet-5-5', system: BLOCKS, tools: [LIST] }));
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(body.system).toEqual([
      { type: 'text', text: BLOCKS[0], ...mark },
      { type: 'text', text: BLOCKS[1] },
      { type: 'text', text: BLOCKS[2], ...mark },
    ]);
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }] }]);
  });

  it('is told to cache the tools if there is no system text', async () => {
    expect(await sent(anthropic, chatRequest({ tools: [LIST] }))).toMatchObject({
      tools: [{ cache_control: { type: 'ephemeral' } }],
    });
  });

  it('keeps everything in its place, also behind a gateway to Claude', async () => {
    const body = await sent(anthropic, chatRequest({ model: 'bedrock/claude-sonnet-5-5', messages: LOOKED }));
    expect(kindsOf(body)).toEqual(['user: text', 'assistant: text tool_use', 'user: tool_result text']);
  });

  it('is sent what every template accepts for another model at another address', async () => {
    const body = await sent(anthropic, chatRequest({ model: 'qwen3', system: BLOCKS, messages: LOOKED }));
    expect(body.system).toEqual([{ type: 'text', text: BLOCKS.join('\n\n'), cache_control: { type: 'ephemeral' } }]);
    expect(kindsOf(body)).toEqual([
      'user: text',
      'assistant: tool_use',
      'user: tool_result',
      'assistant: text',
      'user: text',
    ]);
    expect(JSON.stringify(body)).toContain('I look.');
  });

  it('is told which tools a conversation had, and that none may be called, if there are none any more', async () => {
    const messages: ChatRequest['messages'] = [
      ...chatRequest().messages,
      { role: 'assistant', content: [{ type: 'tool_call', call_id: 'a', name: 'bash', args: {} }] },
      { role: 'tool', content: [{ type: 'tool_result', call_id: 'a', name: 'bash', result: 'ok' }] },
    ];
    expect(await sent(anthropic, chatRequest({ messages }))).toMatchObject({
      tools: [{ name: 'bash', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
  });

  it('gets room for the answer that fits after the prompt', async () => {
    expect(await sent(anthropic, chatRequest({ model: 'claude-sonnet-5-5' }))).toMatchObject({ max_tokens: 32_000 });
    expect(await sent(anthropic, chatRequest({ context_window: 200_000, estimated_tokens: 190_000 }))).toMatchObject({
      max_tokens: 10_000,
    });
    expect(await sent(anthropic, chatRequest({ model: 'claude-3-haiku-20240307' }))).toMatchObject({
      max_tokens: 4096,
    });
  });
});

describe('OpenAI', () => {
  it('uses Responses without an address, and Chat Completions with one', async () => {
    await using server = await vendorServer(chat?.text('Hi.') ?? {});
    await ask(await adapter('openai', `${server.url}/v1`), chatRequest());
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
  });

  it('gets no key if there is none', async () => {
    await using server = await vendorServer(chat?.text('Hi.') ?? {});
    await ask(await adapter('openai', `${server.url}/v1`, { apiKey: null }), chatRequest());
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe('Ollama', () => {
  it('is always told the window', async () => {
    expect(await sent(ollama, chatRequest({ context_window: 12_345 }))).toMatchObject({ options: { num_ctx: 12_345 } });
  });
});

async function sent(dialect: Dialect | undefined, request: ChatRequest): Promise<JsonObject> {
  if (dialect === undefined) throw new Error('There is no such dialect.');
  await using server = await vendorServer(dialect.text('Fine.'));
  const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
  const { error } = await ask(provider, request);
  if (error !== null) throw error;
  return server.requests.find(({ path }) => path !== '/api/show')?.body ?? {};
}

function lastMessage(body: JsonObject) {
  const messages = body.messages ?? body.input ?? body.contents;
  return Array.isArray(messages) ? messages.at(-1) : null;
}

/** The breakpoint at the end moves on with the conversation; it is no part of what is cached. */
function withoutMarks(body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body).replaceAll(/,?"cache_control":\{[^}]*\}/g, ''));
}

it('tells OpenAI that the place of the user is not known, where none is configured', () => {
  const { schema: _, ...request } = chatRequest({ web: 'on' });
  const { tools } = toVendorRequest(request, 'openai', FREE_FORM);
  expect(tools).toEqual([{ type: 'web_search', user_location: { type: 'approximate' } }]);
});
