import { describe, expect, it } from '@jest/globals';
import { refusedNow } from '../../../../lib/chat/model.js';
import type { ChatRequest } from '../../../../lib/chat/request.js';
import { fitRequest } from '../../../../lib/providers/common/fit-request.js';
import { adapter, ask, chatRequest } from '../../../support/providers.js';
import { vendorServer } from '../../../support/vendor-server.js';
import { dialects } from '../../../support/vendors.js';

const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
const HERE = { origin: 'aaaaaaaa' };
const text = (words: string) => ({ type: 'text', text: words }) as const;
const user = (...words: string[]) => ({ role: 'user', content: words.map(text) }) as const;
const call = (id: string) => ({ type: 'tool_call', call_id: id, name: 'look', args: { at: id } }) as const;
const result = (id: string) => ({ type: 'tool_result', call_id: id, name: 'look', result: `saw ${id}` }) as const;
const TOOLS: ChatRequest['messages'] = [
  user('Look.'),
  {
    role: 'assistant',
    content: [text('Let me look.'), call('call_1'), call('call_2')],
    provider: 'p',
    model: 'test-model',
  },
  { role: 'tool', content: [result('call_1'), result('call_2')] },
  user('Well?'),
];
const LOOK = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };

describe('a request adapted to the known facts of the model', () => {
  it('is unchanged if nothing is known', () => {
    const request = chatRequest({ messages: TOOLS, tools: [LOOK], system: ['Be kind.'], thinking: 'off' });
    expect(fitRequest(request, HERE)).toEqual(request);
  });

  it('describes calls and results in words, in alternating turns, for a model without tools', () => {
    const request = chatRequest({ messages: TOOLS, tools: [LOOK], facts: { takes: { tools: false } } });
    const { tools, messages } = fitRequest(request, HERE);
    expect(tools).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
    const all = JSON.stringify(messages);
    expect(all).not.toContain('tool_call');
    for (const words of ['Let me look.', '[Called look with', 'call_1', '[Result of look: saw call_2]'])
      expect(all).toContain(words);
  });

  it('describes them in words for a template with tools too, but drops the original calls', () => {
    const request = chatRequest({ messages: TOOLS, tools: [LOOK], facts: { takes: { calls: false } } });
    const { tools, messages } = fitRequest(request, HERE);
    expect(tools).toEqual([LOOK]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
    expect(JSON.stringify(messages)).toContain('[Called look with');
  });

  it('sends each call with its result if a template accepts one at a time', () => {
    const { messages } = fitRequest(
      chatRequest({ messages: TOOLS, facts: { takes: { parallel_calls: false } } }),
      HERE,
    );
    expect(messages.slice(1, 5)).toMatchObject([
      { role: 'assistant', content: [text('Let me look.'), call('call_1')] },
      { role: 'tool', content: [result('call_1')] },
      { role: 'assistant', content: [call('call_2')] },
      { role: 'tool', content: [result('call_2')] },
    ]);
  });

  it('gives calls and their results ids of nine letters and digits', () => {
    const { messages } = fitRequest(chatRequest({ messages: TOOLS, facts: { takes: { call_ids: false } } }), HERE);
    const ids = messages.flatMap(({ content }) => content.flatMap((part) => ('call_id' in part ? [part.call_id] : [])));
    expect(ids).toHaveLength(4);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]{9}$/);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
  });

  it('puts the system text before the first user message', () => {
    const request = chatRequest({
      messages: TOOLS,
      system: ['Be kind.', 'Be brief.'],
      facts: { takes: { system: false } },
    });
    expect(fitRequest(request, HERE)).toMatchObject({
      system: [],
      messages: [{ content: [text('Be kind.\n\nBe brief.'), text('Look.')] }, {}, {}, {}],
    });
  });

  it('uses the nearest thinking level that was not refused', () => {
    const think = (thinking: ChatRequest['thinking'], refused: readonly ('off' | 'low' | 'xhigh' | 'max')[]) =>
      fitRequest(
        chatRequest({
          thinking,
          facts: refusedNow(
            refused.map((level) => `thinking ${level}` as const),
            1,
          ),
        }),
        HERE,
      ).thinking;
    expect(think('off', ['off'])).toBe('low');
    expect(think('off', ['off', 'low'])).toBe('medium');
    expect(think('max', ['max'])).toBe('xhigh');
    expect(think('max', ['max', 'xhigh'])).toBe('high');
    expect(think(null, ['off'])).toBeNull();
  });
});

describe.each(
  dialects.filter(({ provider }) => provider !== 'ollama').map((dialect) => [dialect.title, dialect] as const),
)('content signed by %s', (title, dialect) => {
  const MARKS = title === 'OpenAI Chat Completions' ? /reasoning_details/ : /SIGNED|U0lHTkVE/;

  /** The request that follows an answer of one key, as the server of another sees it. */
  async function sentWith(apiKey: string, keepsOrigin = true): Promise<string> {
    await using server = await vendorServer(dialect.tools({ name: 'look', args: {} }), dialect.text('Fine.'));
    const at = `${server.url}${dialect.path}`;
    const first = await adapter(dialect.provider, at, { ...dialect.settings, apiKey: 'key-one' });
    const opening = chatRequest({ tools: [TOOL] });
    const { parts } = await ask(first, opening);
    const details = [{ type: 'reasoning.encrypted', data: 'x' }];
    const content =
      title === 'OpenAI Chat Completions'
        ? [{ type: 'thinking', text: '', opaque: { details } } as const, ...parts]
        : parts;
    const [id = ''] = parts.flatMap((part) => (part.type === 'tool_call' ? [part.call_id] : []));
    const answer = {
      role: 'assistant',
      content,
      provider: dialect.provider,
      model: 'test-model',
      ...(keepsOrigin && first.origin !== undefined && { origin: first.origin }),
    } as const;
    const second = await adapter(dialect.provider, at, { ...dialect.settings, apiKey });
    const messages = [...opening.messages, answer, { role: 'tool', content: [result(id)] } as const];
    await ask(second, { ...opening, messages });
    return JSON.stringify(server.requests.at(-1)?.body);
  }

  it('is sent back with the same key', async () => {
    expect(await sentWith('key-one')).toMatch(MARKS);
  });

  it('is not sent with another key', async () => {
    expect(await sentWith('key-two')).not.toMatch(MARKS);
  });

  it('is sent back if an earlier version recorded no origin', async () => {
    expect(await sentWith('key-two', false)).toMatch(MARKS);
  });
});
