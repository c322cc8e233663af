import { describe, expect, it } from '@jest/globals';
import { adapter, ask, chatRequest } from '../../support/providers.js';
import { vendorServer } from '../../support/vendor-server.js';
import { dialects } from '../../support/vendors.js';

const PATHS: Readonly<Record<string, string>> = {
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/test-model:streamGenerateContent',
  ollama: '/api/chat',
};

const own = dialects.filter(({ provider }) => provider !== 'openai');

describe.each(own.map((dialect) => [dialect.title, dialect] as const))('the address of %s', (_, dialect) => {
  it.each(['', '/', '/v1', '/v1/', '/v1beta', '/api'])("may end in '%s'", async (end) => {
    await using server = await vendorServer(dialect.text('Hi'));
    const got = await ask(await adapter(dialect.provider, server.url + end), chatRequest());
    expect(got.error).toBeNull();
    expect(server.requests.map(({ path }) => path.split('?')[0])).toEqual([PATHS[dialect.provider]]);
  });
});
