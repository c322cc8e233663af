import { describe, expect, it } from '@jest/globals';
import type { Part } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { ndjson, refusal, type VendorAnswer, vendorServer } from '../support/vendor-server.js';

const picture: ChatRequest = chatRequest({
  messages: [{ role: 'user', content: [{ type: 'image', mime: 'image/png', sha256: 'aa', bytes: 1 }] }],
  attachments: new Map([['aa', Uint8Array.from([1])]]),
  estimated_tokens: 1500,
});

function answer(prompt_eval_count?: number): VendorAnswer {
  return ndjson({
    message: { role: 'assistant', content: 'Hi.' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count,
    eval_count: 2,
  });
}

describe('a prompt that Ollama cut', () => {
  it('is reported, with the numbers and what to do', async () => {
    const [notices] = await noticesFor([[12_000, 4096]]);
    expect(notices).toHaveLength(1);
    expect(notices?.[0]).toMatch(/4096 of about 12000.*context_window.*\/compact/);
  });

  it('is reported once a turn, not for every tool step', async () => {
    const [first, second] = await noticesFor([
      [12_000, 4096],
      [12_100, 4096],
    ]);
    expect([first?.length, second?.length]).toEqual([1, 0]);
  });

  it('is not suspected if the counts are close, or the prompt is small', async () => {
    expect((await noticesFor([[12_000, 9000]])).flat()).toEqual([]);
    expect((await noticesFor([[900, 20]])).flat()).toEqual([]);
    expect((await noticesFor([[12_000, undefined]])).flat()).toEqual([]);
    // No window is that small.
    expect((await noticesFor([[12_000, 7]])).flat()).toEqual([]);
  });

  it('is not suspected if the server counts only what was not in its cache', async () => {
    expect(
      (
        await noticesFor([
          [12_000, 11_500],
          [12_400, 390],
        ])
      ).flat(),
    ).toEqual([]);
  });

  it('is not suspected because of images, whose cost is unknown', async () => {
    await using server = await vendorServer(refusal(404, { error: 'no' }), answer(300));
    const got = await ask(await adapter('ollama', server.url), picture);
    expect(got.events.filter((event) => event.type === 'notice')).toEqual([]);
  });

  it.each([
    ['image', 'image/png', { images: false }],
    ['document', 'application/pdf', {}],
  ] as const)('is not suspected because of %ss of earlier messages, told in words', async (type, mime, takes) => {
    await using server = await vendorServer(answer(300));
    const request = chatRequest({
      messages: [
        { role: 'user', content: [{ type, mime, sha256: 'aa', bytes: 1 }] },
        { role: 'assistant', content: [{ type: 'text', text: 'A plan.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Whose?' }] },
      ],
      attachments: new Map([['aa', Uint8Array.from([1])]]),
      estimated_tokens: 1800,
      facts: { takes },
    });
    const { events } = await ask(await adapter('ollama', server.url), request);
    expect(events.filter((event) => event.type === 'notice')).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'end', usage: { input_tokens: 300 } });
  });
});

describe('an image for Ollama', () => {
  it('is refused before the request if the model does not accept images', async () => {
    await using server = await vendorServer({ chunks: [JSON.stringify({ capabilities: ['completion', 'tools'] })] });
    const { error } = await ask(await adapter('ollama', server.url), picture);
    expect(error).toMatchObject({
      code: 'request',
      message: "The model 'test-model' cannot see images.",
      retryable: false,
    });
    expect(server.requests.map(({ path }) => path)).toEqual(['/api/show']);
  });

  it('is sent if the model accepts images, and the server is asked only once', async () => {
    await using server = await vendorServer(
      { chunks: [JSON.stringify({ capabilities: ['completion', 'vision'] })] },
      answer(300),
    );
    const provider = await adapter('ollama', server.url);
    expect((await ask(provider, picture)).text).toBe('Hi.');
    expect((await ask(provider, picture)).text).toBe('Hi.');
    expect(server.requests.map(({ path }) => path)).toEqual(['/api/show', '/api/chat', '/api/chat']);
  });

  it('is sent if the server does not say', async () => {
    await using server = await vendorServer(refusal(404, { error: 'not found' }), answer(300));
    expect((await ask(await adapter('ollama', server.url), picture)).text).toBe('Hi.');
  });
});

describe('a PDF for Ollama', () => {
  it('is refused before the request', async () => {
    await using server = await vendorServer(answer());
    const messages: ChatRequest['messages'] = [
      { role: 'user', content: [{ type: 'document', mime: 'application/pdf', sha256: 'bb', bytes: 1 }] },
    ];
    const { error } = await ask(await adapter('ollama', server.url), chatRequest({ messages }));
    expect(error).toMatchObject({ code: 'request' });
    expect(server.requests).toEqual([]);
  });
});

describe('an attachment of an earlier turn that the model does not accept', () => {
  it('is described in words, so that the conversation continues', async () => {
    await using server = await vendorServer(
      { chunks: [JSON.stringify({ capabilities: ['completion'] })] },
      answer(300),
    );
    const messages: ChatRequest['messages'] = [
      {
        role: 'user',
        content: [
          { type: 'image', mime: 'image/png', sha256: 'aa', bytes: 1, name: 'a.png' },
          { type: 'document', mime: 'application/pdf', sha256: 'bb', bytes: 1, name: 'b.pdf' },
          { type: 'text', text: 'What is this?' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'A plan.' }], provider: 'openai', model: 'm' },
      { role: 'user', content: [{ type: 'text', text: 'Whose?' }] },
    ];
    const attachments = new Map([['aa', Uint8Array.from([1])]]);
    const { error } = await ask(await adapter('ollama', server.url), chatRequest({ messages, attachments }));
    expect(error).toBeNull();
    expect(server.requests[1]?.body.messages).toEqual([
      {
        role: 'user',
        content: [
          '[The image a.png was here; you cannot see it.]',
          '[The document b.pdf was here; you cannot see it.]',
          'What is this?',
        ].join('\n\n'),
      },
      { role: 'assistant', content: 'A plan.' },
      { role: 'user', content: 'Whose?' },
    ]);
  });
});

/** The notices of each of these requests, told by their estimates and what the server counts. */
async function noticesFor(requests: readonly (readonly [number, number | undefined])[]): Promise<string[][]> {
  await using server = await vendorServer(...requests.map(([, count]) => answer(count)));
  const provider = await adapter('ollama', server.url);
  const notices: string[][] = [];
  for (const [estimated_tokens] of requests) {
    const words: Part[] = [{ type: 'text', text: 'word'.repeat(estimated_tokens) }];
    const { events } = await ask(
      provider,
      chatRequest({ messages: [{ role: 'user', content: words }], estimated_tokens }),
    );
    notices.push(events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])));
  }
  return notices;
}

describe('an invalid line', () => {
  it('ends its answer, and no other that streams at the same time', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => ({ message: { role: 'assistant', content: `${index} ` } }));
    const { chunks = [], ...rest } = ndjson(...lines, { done: true, done_reason: 'stop', eval_count: 1 });
    const broken = {
      ...rest,
      chunks: [...chunks.slice(0, 20), '{"message": {"content": "lost}\n', ...chunks.slice(20)],
    };
    await using bad = await vendorServer(broken);
    await using good = await vendorServer({ ...rest, chunks });
    const [one, other] = await Promise.all(
      [bad, good].map(async ({ url }) => await ask(await adapter('ollama', url), chatRequest())),
    );
    expect(one?.error).toMatchObject({ code: 'malformed' });
    expect(one?.text).toMatch(/^0 1 2 .*19 $/);
    expect(other?.error).toBeNull();
    expect(other?.text).toMatch(/ 39 $/);
  });

  it('is reported even if nothing follows it, unless it was cut off', async () => {
    const told = await answered('{\n  "message": {"role": "assistant", "content": "Hello"},\n  "done": true\n}\n');
    expect(told).toMatchObject({ code: 'malformed', message: "Ollama sent a line that hi cannot read: '{'." });
    expect(await answered('{"message": {"role": "assist')).toMatchObject({ code: 'network' });
  });
});

async function answered(body: string): Promise<unknown> {
  await using server = await vendorServer({ chunks: [body] });
  return (await ask(await adapter('ollama', server.url), chatRequest())).error;
}
