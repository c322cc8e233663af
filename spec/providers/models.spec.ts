import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../lib/chat/json.js';
import { isAbort } from '../../lib/errors.js';
import { providers } from '../../lib/providers/index.js';
import { pick } from '../../lib/registry.js';
import { settingsFor } from '../support/providers.js';
import { refusal, vendorServer } from '../support/vendor-server.js';

const LISTS: readonly (readonly [string, string, JsonValue])[] = [
  // Together
  [
    'openai',
    '/v1',
    [
      { id: 'older', created: 1 },
      { id: 'newer', created: 2 },
    ],
  ],
  [
    'openai',
    '/v1',
    {
      data: [
        { id: 'older', object: 'model', created: 1 },
        { id: 'newer', object: 'model', created: 2 },
      ],
    },
  ],
  ['anthropic', '', { data: [{ id: 'newer' }, { id: 'older' }], has_more: false }],
  [
    'gemini',
    '',
    {
      models: [
        { name: 'models/newer', supportedGenerationMethods: ['generateContent'] },
        { name: 'models/embedder', supportedGenerationMethods: ['embedContent'] },
        { name: 'models/older', supportedGenerationMethods: ['generateContent'] },
      ],
    },
  ],
  [
    'ollama',
    '',
    {
      models: [
        { name: 'newer', model: 'newer' },
        { name: 'older', model: 'older' },
      ],
    },
  ],
];

describe.each(LISTS)('the models of %s', (name, path, body) => {
  const member = pick(providers, name, 'provider');

  it('may be in an invalid format', async () => {
    await using server = await vendorServer({ chunks: ['null'] });
    const listed = member.listModels(settingsFor(server.url + path), new AbortController().signal);
    await expect(listed).rejects.toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('sent a malformed answer'),
    });
  });

  it('are listed by name, the newest first if the vendor reports that', async () => {
    await using server = await vendorServer({ chunks: [JSON.stringify(body)] });
    const listed = await member.listModels(settingsFor(server.url + path), new AbortController().signal);
    expect(listed.map((model) => model.name)).toEqual(['newer', 'older']);
    expect(server.requests[0]?.method).toBe('GET');
  });

  it('cannot be listed with a wrong key', async () => {
    await using server = await vendorServer(refusal(401, { error: { message: 'No' } }));
    const asked = member.listModels(settingsFor(server.url + path), new AbortController().signal);
    await expect(asked).rejects.toMatchObject({ code: 'key' });
  });

  it('are not waited for after a cancellation', async () => {
    await using server = await vendorServer({ silent: true });
    const stop = new AbortController();
    const asked = member.listModels(settingsFor(server.url + path), stop.signal);
    setTimeout(() => stop.abort(), 100);
    expect(isAbort(await asked.catch((thrown: unknown) => thrown))).toBe(true);
  });

  it('have a default in the registry', () => {
    expect(member.defaultModel).not.toBe('');
    expect(member.title).toMatch(/^[A-Z]/);
    expect(member.baseVariable).toMatch(/^[A-Z_]+$/);
  });
});

describe('an adapter', () => {
  it.each(['openai', 'anthropic', 'gemini'])('of %s is not made without a key for the vendor itself', async (name) => {
    const made = pick(providers, name, 'provider').create({ ...settingsFor(''), apiBase: null, apiKey: null });
    await expect(made).rejects.toMatchObject({ code: 'config', hint: expect.stringMatching(/_API_KEY.*https:\/\//) });
  });
});
