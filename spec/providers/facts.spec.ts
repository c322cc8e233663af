import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { ModelFacts } from '../../lib/chat/model.js';
import { factsOf } from '../../lib/providers/common/known-models.js';
import { providers } from '../../lib/providers/index.js';
import { pick } from '../../lib/registry.js';
import { settingsFor } from '../support/providers.js';
import { type VendorAnswer, vendorServer } from '../support/vendor-server.js';

const json = (body: JsonObject): VendorAnswer => ({ chunks: [JSON.stringify(body)] });

/** What a provider learns from a server that gives these answers, and which paths it asks for. */
async function asked(provider: string, path: string, answers: readonly VendorAnswer[], known: ModelFacts = {}) {
  await using server = await vendorServer(...answers);
  const member = pick(providers, provider, 'provider');
  const question = { model: 'm', known };
  const facts = await member.askFacts(settingsFor(server.url + path), question, new AbortController().signal);
  return { facts, paths: server.requests.map((request) => request.path.split('?')[0]) };
}

describe('facts about a model from a list of models', () => {
  it.each<[string, JsonObject, ModelFacts]>([
    ['vLLM', { id: 'm', max_model_len: 16_384 }, { context_window: 16_384 }],
    [
      'Groq',
      { context_window: 131_072, max_completion_tokens: 8192 },
      { context_window: 131_072, max_output_tokens: 8192 },
    ],
    [
      'Mistral',
      { max_context_length: 32_768, capabilities: { function_calling: true, vision: false } },
      { context_window: 32_768, takes: { tools: true, images: false } },
    ],
    ['Together', { context_length: 8192 }, { context_window: 8192 }],
    [
      'OpenRouter',
      {
        context_length: 1_000_000,
        top_provider: { context_length: 200_000, max_completion_tokens: 64_000 },
        supported_parameters: ['temperature'],
        architecture: { input_modalities: ['text', 'image'] },
      },
      { context_window: 1_000_000, max_output_tokens: 64_000, takes: { tools: false, images: true } },
    ],
    ['llama.cpp', { meta: { n_ctx: 4096, n_ctx_train: 8192 } }, { context_window: 4096 }],
    [
      'Anthropic',
      {
        max_input_tokens: 1_000_000,
        max_tokens: 64_000,
        capabilities: { image_input: { supported: true }, pdf_input: { supported: false } },
      },
      { context_window: 1_000_000, max_output_tokens: 64_000, takes: { images: true, documents: false } },
    ],
    [
      'Google',
      { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 },
      { context_window: 1_048_576, max_output_tokens: 65_536 },
    ],
    [
      'LiteLLM',
      {
        model_name: 'm',
        model_info: {
          max_input_tokens: 200_000,
          max_output_tokens: 8192,
          supports_function_calling: true,
          supports_vision: false,
        },
      },
      { context_window: 200_000, max_output_tokens: 8192, takes: { tools: true } },
    ],
    ['LM Studio', { loaded_context_length: 4096, max_context_length: 131_072 }, { context_window: 4096 }],
  ])('%s', (_server, entry, facts) => expect(factsOf(entry)).toEqual(facts));

  it('are empty if the numbers make no sense', () => {
    expect(factsOf({ context_length: 0, max_tokens: null, context_window: 'large', n_ctx: 1 })).toEqual({});
    expect(factsOf(null)).toEqual({});
  });
});

describe('facts about a model from its server', () => {
  it('are read from another path if the list contains only names, as with LiteLLM', async () => {
    const list = json({ object: 'list', data: [{ id: 'other' }, { id: 'm', owned_by: 'openai' }] });
    const info = json({
      data: [
        { model_name: 'other', model_info: { max_input_tokens: 1000 } },
        { model_name: 'm', model_info: { max_input_tokens: 131_072 } },
      ],
    });
    expect(await asked('openai', '/v1', [list, info])).toEqual({
      facts: { context_window: 131_072 },
      paths: ['/v1/models', '/v1/model/info'],
    });
    expect((await asked('openai', '/v1', [list, { status: 404, chunks: ['{}'] }])).facts).toEqual({});
  });

  it("are read from its entry in the list, at a user's address", async () => {
    const list = json({
      object: 'list',
      data: [
        { id: 'other', max_model_len: 1000 },
        { id: 'm', max_model_len: 16_384 },
      ],
    });
    expect(await asked('openai', '/v1', [list])).toEqual({ facts: { context_window: 16_384 }, paths: ['/v1/models'] });
  });

  it('include the window of each conversation from /props of llama.cpp', async () => {
    const list = json({ data: [{ id: 'alias', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } }] });
    const props = json({ default_generation_settings: { n_ctx: 2048 }, modalities: { vision: false, audio: false } });
    expect(await asked('openai', '/v1', [list, props])).toEqual({
      facts: { context_window: 2048, takes: { images: false, audio: false } },
      paths: ['/v1/models', '/props'],
    });
  });

  it.each([
    ['has no tools', { supports_tools: false, supports_tool_calls: false }, { tools: false, calls: false }],
    [
      'drops the calls that were made',
      { supports_tools: true, supports_tool_calls: false },
      { tools: true, calls: false },
    ],
    ['takes one call at a time', { supports_parallel_tool_calls: false }, { parallel_calls: false }],
    ['is not told about', 'none', undefined],
  ])('say that the chat template of llama.cpp %s', async (_what, chat_template_caps, takes) => {
    const list = json({ data: [{ id: 'm', owned_by: 'llamacpp' }] });
    const { facts } = await asked('openai', '/v1', [list, json({ chat_template_caps })]);
    expect(facts.takes).toEqual(takes);
  });

  it('are requested by name if the vendor has a path for that', async () => {
    const claude = await asked('anthropic', '', [json({ id: 'm', type: 'model', max_input_tokens: 300_000 })]);
    expect(claude).toEqual({ facts: { context_window: 300_000 }, paths: ['/v1/models/m'] });
    const gemini = await asked('gemini', '', [json({ name: 'models/m', inputTokenLimit: 50_000 })]);
    expect(gemini.facts).toEqual({ context_window: 50_000 });
    expect(gemini.paths).toEqual(['/v1beta/models/m']);
  });
});

describe('Ollama', () => {
  const show = (extra: JsonObject = {}) =>
    json({
      capabilities: ['completion'],
      model_info: {
        'llama.context_length': 8192,
        'llama.block_count': 30,
        'llama.embedding_length': 576,
        'llama.attention.head_count': 9,
        'llama.attention.head_count_kv': 3,
      },
      ...extra,
    });
  const running = (...windows: readonly number[]) =>
    json({ models: windows.map((context_length) => ({ name: 'm:latest', context_length })) });
  const tags = json({ models: [{ name: 'm:latest', size: 1000 }] });

  it('gives a model its full window if there is enough memory', async () => {
    const { facts } = await asked('ollama', '', [show(), running(), tags]);
    expect(facts).toMatchObject({ context_window: 8192, takes: { tools: false, images: false } });
    expect(facts.takes).toMatchObject({ 'thinking low': false, 'thinking medium': false, 'thinking high': false });
  });

  it('keeps the window that the user set for the server', async () => {
    const { facts } = await asked('ollama', '', [show(), running(2048), tags]);
    expect(facts).toMatchObject({ context_window: 2048, server: { fixed_window: 2048 } });
  });

  it('keeps neither its plain default nor what hi requested', async () => {
    const plain = await asked('ollama', '', [show(), running(4096), tags]);
    expect(plain.facts).toMatchObject({ context_window: 8192, server: { fixed_window: 0, loaded_window: 4096 } });
    const ours = await asked('ollama', '', [show(), running(6000), tags], { server: { loaded_window: 6000 } });
    expect(ours.facts).toMatchObject({ context_window: 8192, server: { fixed_window: 0 } });
  });

  it('reports whether a model supports thinking and tools', async () => {
    const { facts } = await asked('ollama', '', [
      show({ capabilities: ['completion', 'tools', 'thinking', 'vision'] }),
      running(),
      tags,
    ]);
    expect(facts.takes).toEqual({ tools: true, images: true });
  });
});
