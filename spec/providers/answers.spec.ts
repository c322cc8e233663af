import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../lib/chat/request.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const list = { name: 'list_files', args: { path: '.' } };
const read = { name: 'read_file', args: { path: 'a.txt', limit: 3 } };

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('an answer of %s', (_, dialect) => {
  it('streams its text as it arrives and keeps it as one part', async () => {
    await using server = await vendorServer(dialect.text('Hel', 'lo 😀 ', 'wörld'));
    const got = await askOnce(dialect, server.url);
    expect(got.events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'Hel',
      'lo 😀 ',
      'wörld',
    ]);
    expect(got.parts).toMatchObject([{ type: 'text', text: 'Hello 😀 wörld' }]);
    expect(got.error).toBeNull();
  });

  it('ends with its stop reason, its usage and the model that answered', async () => {
    await using server = await vendorServer(dialect.text('Hello'));
    const got = await askOnce(dialect, server.url);
    const cached_tokens = dialect.provider === 'ollama' ? 0 : 2;
    expect(got.end).toEqual({
      type: 'end',
      stop_reason: 'end',
      model: 'test-model-1',
      usage: {
        ...{ input_tokens: 7, output_tokens: 3, cached_tokens, context_tokens: 10 },
        ...(dialect.provider === 'anthropic' && { billing: { cache_write_tokens: 1 } }),
      },
    });
  });

  it('keeps thinking, text and every tool call in their order', async () => {
    await using server = await vendorServer(dialect.tools(list, read));
    const got = await askOnce(dialect, server.url);
    expect(got.thinking).toBe('Hm.');
    expect(got.text).toBe('Let me look.');
    expect(got.parts).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_call', ...list },
      { type: 'tool_call', ...read },
    ]);
    expect(got.end?.stop_reason).toBe('tool_calls');
  });

  it('reports when it reached its length limit', async () => {
    await using server = await vendorServer(dialect.length('Hello and'));
    const got = await askOnce(dialect, server.url);
    expect(got.text).toBe('Hello and');
    expect(got.end?.stop_reason).toBe('length');
  });

  if (dialect.provider !== 'ollama') {
    it('keeps its connection for the next request', async () => {
      await using server = await vendorServer(dialect.text('Hello'));
      const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
      for (const _again of [1, 2, 3]) await ask(provider, chatRequest());
      expect(server.connections()).toBe(1);
    });
  }

  it('prints nothing on the console, whatever its SDK would', async () => {
    await using server = await vendorServer(dialect.tools(list), dialect.text('Hello'));
    const written: unknown[] = [];
    for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const)
      console[method] = (...words) => written.push(words);
    const lines: string[] = [];
    const trace = (line: string) => lines.push(line);
    const provider = await adapter(dialect.provider, server.url + dialect.path, { ...dialect.settings, trace });
    for (const _again of [1, 2]) await ask(provider, chatRequest({ model: 'claude-sonnet-4-5', thinking: 'low' }));
    expect(written).toEqual([]);
    expect(lines.some((line) => line.startsWith('# '))).toBe(dialect.provider === 'anthropic');
  });

  it('gives every call an id that no other call of the conversation has', async () => {
    await using server = await vendorServer(dialect.tools(list, read));
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    const first = await ask(provider, chatRequest());
    const calls = first.parts.filter((part) => part.type === 'tool_call');
    const messages: ChatRequest['messages'] = [
      ...chatRequest().messages,
      { role: 'assistant', content: first.parts, provider: dialect.provider, model: 'test-model' },
      {
        role: 'tool',
        content: calls.map(({ call_id, name }) => ({ type: 'tool_result', call_id, name, result: 'ok' })),
      },
    ];
    const second = await ask(provider, chatRequest({ messages }));
    const ids = [...first.parts, ...second.parts].flatMap((part) => (part.type === 'tool_call' ? [part.call_id] : []));
    expect(new Set(ids).size).toBe(4);
  });
});

async function askOnce(dialect: Dialect, url: string) {
  const provider = await adapter(dialect.provider, url + dialect.path, dialect.settings);
  return ask(provider, chatRequest());
}
