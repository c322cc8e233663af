import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../../../lib/chat/request.js';
import { adapter, ask, chatRequest } from '../../../support/providers.js';
import { sse, vendorServer } from '../../../support/vendor-server.js';

const image = { type: 'image', mime: 'image/png', sha256: 'aa', bytes: 1, name: 'cat.png' } as const;
const shown = { role: 'user', content: [image] } as const;
const answered = { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] } as const;
const asked = { role: 'user', content: [{ type: 'text', text: 'And now?' }] } as const;

function request(model: string, messages: ChatRequest['messages']): ChatRequest {
  return chatRequest({ model, messages, attachments: new Map([['aa', Uint8Array.from([1])]]) });
}

const answer = sse({ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }, '[DONE]');

describe('a model that is known not to accept images', () => {
  it.each([
    ['openai', 'gpt-3.5-turbo'],
    ['openai', 'openai/o3-mini'],
    ['openai', 'deepseek-chat'],
    ['anthropic', 'claude-2.1'],
  ])('refuses an image before the request (%s, %s)', async (provider, model) => {
    await using server = await vendorServer(answer);
    const { error } = await ask(await adapter(provider, server.url), request(model, [shown]));
    expect(error).toMatchObject({ code: 'request', message: `The model '${model}' cannot see images.` });
    expect(server.requests).toEqual([]);
  });

  it('is told in words of the images that another model has seen', async () => {
    await using server = await vendorServer(answer);
    const got = await ask(await adapter('openai', `${server.url}/v1`), request('gpt-4', [shown, answered, asked]));
    expect(got.error).toBeNull();
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain('[The image cat.png was here; you cannot see it.]');
    expect(sent).not.toContain('image_url');
  });
});

describe('an unknown model', () => {
  it.each(['gpt-4o', 'gpt-4.1', 'gpt-5.4', 'o3', 'my-own-model'])('is shown the image (%s)', async (model) => {
    await using server = await vendorServer(answer);
    await ask(await adapter('openai', `${server.url}/v1`), request(model, [shown]));
    expect(JSON.stringify(server.requests[0]?.body)).toContain('image_url');
  });
});
