import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { HiError } from '../../lib/errors.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { namedSse, sse, type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('%s', (_, dialect) => {
  it('keeps text that arrives together with an error', async () => {
    const answer = dialect.failure('Once upon', 'No slot is free.');
    const got = await answered(dialect, inOnePiece(answer));
    expect(got.text).toBe('Once upon');
    expect(got.error).toBeInstanceOf(HiError);
    expect(got.error).toMatchObject({ message: expect.stringContaining('No slot is free.') });
  });

  it('keeps text that arrives together with something invalid', async () => {
    const answer = dialect.failure('Once upon', 'No slot is free.');
    const [last = ''] = answer.chunks?.slice(-1) ?? [];
    const broken = `${last}`.replace(/\{.*/, '{"brok');
    const got = await answered(
      dialect,
      inOnePiece({ ...answer, chunks: [...(answer.chunks ?? []).slice(0, -1), broken, '\n\n'] }),
    );
    expect(got.text).toBe('Once upon');
    expect(got.error).toBeInstanceOf(HiError);
  });
});

describe('an empty finish reason', () => {
  it.each(['OpenAI Chat Completions', 'Gemini', 'Anthropic'])('is none for %s: the stream was cut', async (title) => {
    const dialect = dialectOf(title);
    const { chunks = [], ...answer } = dialect.text('Hel', 'lo');
    const empty = chunks
      .map((chunk) => `${chunk}`.replace(/"(finish_reason|finishReason|stop_reason)":"\w+"/, '"$1":""'))
      .filter((chunk) => !chunk.includes('message_stop'));
    const got = await answered(dialect, { ...answer, chunks: empty });
    expect([got.text, got.end]).toEqual(['Hello', null]);
    expect(got.error).toMatchObject({ code: 'network', message: expect.stringContaining('cut off') });
  });

  it('does no harm in every chunk of an answer whose last chunk has one', async () => {
    const piece = (content: string, finish_reason: string) => ({
      choices: [{ index: 0, delta: { content }, finish_reason }],
    });
    const good = sse(piece('Hel', ''), piece('lo', ''), piece('', 'stop'), piece('', ''), '[DONE]');
    const got = await answered(dialectOf('OpenAI Chat Completions'), good);
    expect(got).toMatchObject({ text: 'Hello', error: null, end: { stop_reason: 'end' } });
  });
});

describe('an answer after its finish reason', () => {
  it.each(['OpenAI Chat Completions', 'Gemini', 'Anthropic'])(
    'is complete for %s, whatever breaks after it',
    async (title) => {
      const dialect = dialectOf(title);
      const { chunks = [], ...answer } = dialect.text('Hel', 'lo');
      const ended = chunks.filter((chunk) => !/message_stop|\[DONE\]/.test(`${chunk}`));
      const [failure = ''] = dialect.failure('', 'No slot is free.').chunks?.slice(-1) ?? [];
      const got = await answered(dialect, { ...answer, chunks: [...ended, failure] });
      expect(got).toMatchObject({ text: 'Hello', error: null, end: { stop_reason: 'end' } });
    },
  );
});

describe('an item of the Responses API that begins before the previous one ends', () => {
  const text = { type: 'output_text', text: 'Yes, it works.', annotations: [] };
  const message = { type: 'message', id: 'msg', role: 'assistant' };
  const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'SIGNED' };
  const end = { type: 'response.completed', response: { output: [] } };

  /** The order in which a gateway was seen to send them. */
  const events: readonly JsonObject[] = [
    { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'msg', delta: 'Yes, ' },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'msg', delta: 'it works.' },
    { type: 'response.output_item.added', output_index: 1, item: { ...reasoning, encrypted_content: null } },
    { type: 'response.output_item.done', output_index: 0, item: { ...message, content: [text] } },
    { type: 'response.output_item.done', output_index: 1, item: reasoning },
    end,
  ];

  it.each([
    ['as they are', (event: JsonObject) => event],
    ['without a place', ({ output_index: _, ...event }: JsonObject) => event],
    ['all at place 0', (event: JsonObject) => ('output_index' in event ? { ...event, output_index: 0 } : event)],
    ['with another id in every event', (event: JsonObject, at: number) => withId(event, `id${at}`)],
  ])('is kept and shown once (%s)', async (_, change) => {
    const got = await answered(dialectOf('OpenAI Responses'), namedSse(...events.map(change)));
    expect(got.error).toBeNull();
    expect(got.text).toBe('Yes, it works.');
    expect(got.parts.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual([
      'Yes, it works.',
      'thinking',
    ]);
    expect(got.parts).toMatchObject([
      { opaque: { id: expect.any(String) } },
      { opaque: { item: { encrypted_content: 'SIGNED' } } },
    ]);
  });

  it('is kept and shown once if its chunks are mixed with those of the other', async () => {
    const thought = (delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 1,
      item_id: 'rs',
      delta,
    });
    const [begin, first, second, other, done, ...rest] = events as [
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    const mixed = [begin, first, other, thought('Hm, '), second, thought('fine.'), done, ...rest];
    const got = await answered(dialectOf('OpenAI Responses'), namedSse(...mixed));
    expect([got.text, got.thinking]).toEqual(['Yes, it works.', 'Hm, fine.']);
    const kept = (type: string) =>
      got.parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
    expect([kept('text'), kept('thinking')]).toEqual(['Yes, it works.', 'Hm, fine.']);
  });

  it('is a separate message if two are mixed', async () => {
    const messages = [0, 1].map((output_index) => ({ ...message, id: `msg${output_index}` }));
    const delta = (output_index: number, piece: string) => ({
      type: 'response.output_text.delta',
      output_index,
      delta: piece,
    });
    const done = (output_index: number, words: string) => ({
      type: 'response.output_item.done',
      output_index,
      item: { ...messages[output_index], content: [{ ...text, text: words }] },
    });
    const got = await answered(
      dialectOf('OpenAI Responses'),
      namedSse(
        ...messages.map((item, output_index) => ({ type: 'response.output_item.added', output_index, item })),
        delta(0, 'One.'),
        delta(1, 'Two.'),
        done(0, 'One.'),
        done(1, 'Two.'),
        end,
      ),
    );
    expect(got.text).toBe('One.Two.');
    expect(got.parts).toMatchObject([{ text: 'One.' }, { text: 'Two.', opaque: { id: 'msg1' } }]);
  });
});

function withId(event: JsonObject, id: string): JsonObject {
  const { item, item_id } = event;
  return {
    ...event,
    ...(typeof item === 'object' && item !== null && { item: { ...item, id } }),
    ...(item_id !== undefined && { item_id: id }),
  };
}

function inOnePiece({ chunks = [], ...answer }: VendorAnswer): VendorAnswer {
  return { ...answer, chunks: [chunks.join('')] };
}

function dialectOf(title: string): Dialect {
  const found = dialects.find((dialect) => dialect.title === title);
  if (found === undefined) throw new Error(`There is no dialect '${title}'.`);
  return found;
}

async function answered(dialect: Dialect, answer: VendorAnswer) {
  await using server = await vendorServer(answer);
  const provider = await adapter(dialect.provider, `${server.url}${dialect.path}`, dialect.settings);
  return await ask(provider, chatRequest());
}
