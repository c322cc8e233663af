import { describe, expect, it } from '@jest/globals';
import type { ChatEvent, StreamEvent } from '../../../lib/chat/event.js';
import type { Message, Usage } from '../../../lib/chat/message.js';
import { type ModelMemory, refusedNow } from '../../../lib/chat/model.js';
import { HiError } from '../../../lib/errors.js';
import { delayBefore, type PartialAnswer, sleep } from '../../../lib/session/turn/failed-request.js';
import { requestAnswer } from '../../../lib/session/turn/request-answer.js';
import { textModel } from '../../../lib/session/turn/text-model.js';
import { memory } from '../../support/memory.js';
import { chatRequest } from '../../support/providers.js';
import { answer, failure, type Script } from '../../support/session.js';

const USAGE: Usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, context_tokens: 15 };
const passing = new HiError('network', 'The line is busy.', { retryable: true, retryAfter: 1 });
const lasting = new HiError('key', 'The key is wrong.');

/** Events one after another. */
function events(...all: readonly StreamEvent[]): Script {
  return async function* () {
    yield* all;
  };
}

/** What a request yields, what it leaves, and what it throws, where each script answers one attempt. */
async function ask(
  scripts: readonly Script[],
  signal: AbortSignal = new AbortController().signal,
  { messages = [], known = memory() }: { readonly messages?: readonly Message[]; readonly known?: ModelMemory } = {},
) {
  const shown: ChatEvent[] = [];
  const left: PartialAnswer = { parts: [], end: null };
  let attempt = 0;
  const provider = {
    name: 'scripted',
    stream: (...given: Parameters<Script>) => {
      const script = scripts[attempt];
      attempt += 1;
      if (script === undefined) throw new Error('asked too often');
      return script(...given);
    },
  };
  try {
    for await (const event of requestAnswer({ provider, memory: known }, { ...chatRequest(), messages }, left, signal))
      shown.push(event);
  } catch (error) {
    return { shown, left, error, attempts: attempt };
  }
  return { shown, left, error: null, attempts: attempt };
}

const REQUEST = { type: 'request', provider: 'scripted', model: 'test-model', context_tokens: 10 };

describe('an answer', () => {
  it('is shown as it arrives, and stored in parts', async () => {
    const { shown, left, error } = await ask([answer('Hello', ['bash'], USAGE)]);
    expect(error).toBeNull();
    expect(shown).toEqual([
      REQUEST,
      { type: 'text', text: 'Hello' },
      { type: 'usage', purpose: 'answer', provider: 'scripted', model: 'test-model', usage: USAGE },
    ]);
    expect(left.parts).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'tool_call', name: 'bash' },
    ]);
    expect(left.end).toMatchObject({ stop_reason: 'tool_calls' });
  });

  it('has no usage if the server reports none', async () => {
    expect((await ask([answer('Hello')])).shown.map(({ type }) => type)).toEqual(['request', 'text']);
  });

  it('has notices as warnings, and the cited pages, each once', async () => {
    const page = { url: 'https://a.example', title: 'A' };
    const { shown, left } = await ask([
      events(
        { type: 'notice', text: 'cut' },
        { type: 'sources', sources: [page] },
        { type: 'sources', sources: [page, { url: 'https://b.example' }] },
        { type: 'end', stop_reason: 'end', usage: null },
      ),
    ]);
    expect(shown).toEqual([REQUEST, { type: 'notice', level: 'warning', text: 'cut' }]);
    expect(left.sources).toEqual([page, { url: 'https://b.example' }]);
  });

  it('that breaks off keeps what was shown and not yet in a part, thinking first', async () => {
    const { left, error, attempts } = await ask([
      async function* () {
        yield { type: 'thinking', text: 'a' };
        yield { type: 'text', text: 'one' };
        yield { type: 'part', part: { type: 'text', text: 'one' } };
        yield { type: 'thinking', text: 'b' };
        yield { type: 'thinking', text: 'c' };
        yield { type: 'text', text: 'two ' };
        yield { type: 'text', text: 'three' };
        throw passing;
      },
    ]);
    expect(error).toBe(passing);
    expect(attempts).toBe(1);
    expect(left).toEqual({
      parts: [
        { type: 'text', text: 'one' },
        { type: 'thinking', text: 'bc' },
        { type: 'text', text: 'two three' },
      ],
      end: null,
    });
  });

  it('never contains half a character: a lone half is U+FFFD', async () => {
    const text = (piece: string): StreamEvent => ({ type: 'text', text: piece });
    const script = events(
      text('a\ud83d'),
      text('\ude00b'),
      text('\ud83d'),
      { type: 'thinking', text: 'x\ud83d' },
      { type: 'thinking', text: '\ude00' },
      text('c\ud83d'),
    );
    const { shown } = await ask([script]);
    expect(shown.slice(1)).toEqual([
      text('a'),
      text('😀b'),
      text('\ufffd'),
      { type: 'thinking', text: 'x' },
      { type: 'thinking', text: '😀' },
      text('c'),
      text('\ufffd'),
    ]);
  });
});

describe('a failure', () => {
  it('that may be temporary is retried, with an event', async () => {
    const { shown, error } = await ask([failure(passing), failure(passing), answer('Hello')]);
    expect(error).toBeNull();
    expect(shown).toEqual([
      REQUEST,
      { type: 'retry', attempt: 1, delay: 1, reason: 'The line is busy.' },
      REQUEST,
      { type: 'retry', attempt: 2, delay: 1, reason: 'The line is busy.' },
      REQUEST,
      { type: 'text', text: 'Hello' },
    ]);
  });

  it.each([
    ['that lasts', lasting],
    ['that is a bug', new TypeError('x is undefined')],
  ])('%s is thrown at once', async (_kind, thrown) => {
    expect(await ask([failure(thrown)])).toMatchObject({ attempts: 1, error: thrown, shown: [REQUEST] });
  });

  it('is thrown after four attempts', async () => {
    const { attempts, error } = await ask(Array<Script>(5).fill(failure(passing)));
    expect({ attempts, error }).toEqual({ attempts: 4, error: passing });
  });

  describe('that repeats, with an image in an earlier message,', () => {
    const image = { type: 'image', mime: 'image/png', sha256: 'a'.repeat(64), bytes: 1 } as const;
    const said = (id: number, role: Message['role'], content: Message['content']): Message => ({
      ...{ id, turn: id, at: '2026-01-01T00:00:00Z', cwd: '/', role, content },
    });
    const text = { type: 'text', text: 'words' } as const;
    const messages = [said(1, 'user', [image]), said(1, 'assistant', [text]), said(2, 'user', [text])];
    const inWords: boolean[] = [];
    const blind: Script = async function* (request, signal) {
      inWords.push(request.facts?.takes?.earlier_parts === false);
      yield* (inWords.at(-1) ? answer('Hello') : failure(passing))(request, signal);
    };
    const put = async (script: Script, known: ModelMemory) => {
      inWords.length = 0;
      return await ask(Array<Script>(9).fill(script), undefined, { messages, known });
    };

    it('is followed by one request in words, and an earlier one the next time, until it is remembered for an hour', async () => {
      const known = memory();
      const first = await put(blind, known);
      expect(first.error).toBeNull();
      expect(inWords).toEqual([false, false, false, false, true]);
      const notice = "'test-model' answers if earlier messages are sent as text only. (The line is busy.)";
      expect(first.shown).toContainEqual({ type: 'notice', level: 'warning', text: notice });
      expect(known.facts.takes).toEqual({ usual_form: false });
      const second = await put(blind, known);
      expect(inWords).toEqual([false, false, true]);
      expect(second.shown).toContainEqual({ type: 'notice', level: 'warning', text: notice });
      expect(known.facts).toMatchObject({ takes: { earlier_parts: false, usual_form: true } });
      await put(blind, known);
      expect(inWords).toEqual([true]);
    });

    it('is thrown after five requests, or four if the third was in words, and nothing is remembered', async () => {
      const down: Script = async function* (request) {
        inWords.push(request.facts?.takes?.earlier_parts === false);
        yield* failure(passing)(request, new AbortController().signal);
      };
      const known = memory();
      expect(await put(down, known)).toMatchObject({ error: passing, attempts: 5 });
      expect(known.facts).toEqual({});
      known.learn(refusedNow(['usual_form'], 1));
      expect(await put(down, known)).toMatchObject({ error: passing, attempts: 4 });
      expect(inWords).toEqual([false, false, true, false]);
      expect(known.facts).toEqual(refusedNow(['usual_form'], 1));
    });

    it('is waited for no longer than the server asks', async () => {
      const later = new HiError('rate', 'Tomorrow.', { retryable: true, retryAfter: 3_600_000 });
      expect(await put(failure(later), memory())).toMatchObject({ error: later, attempts: 1 });
    });
  });

  it('ends if the user stops it, even while it waits', async () => {
    const stop = new AbortController();
    const slow = new HiError('network', 'Busy.', { retryable: true, retryAfter: 60_000 });
    const asked = ask([failure(slow)], stop.signal);
    setTimeout(() => stop.abort(), 20);
    expect(await asked).toMatchObject({ attempts: 1, error: { name: 'AbortError' } });
  });

  it('does not happen if a stream ends silently because the user stopped it', async () => {
    const { error } = await ask([answer('Hello')], AbortSignal.abort());
    expect(error).toMatchObject({ name: 'AbortError' });
  });
});

describe('the delay before a retry', () => {
  const busy = (retryAfter?: number) =>
    new HiError('network', 'Busy.', { retryable: true, ...(retryAfter !== undefined && { retryAfter }) });

  it('doubles from one second on, three times', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => delayBefore(attempt, busy()))).toEqual([1000, 2000, 4000, null, null]);
  });

  it('is what the server requests, up to two minutes', () => {
    expect(delayBefore(1, busy(0))).toBe(0);
    expect(delayBefore(3, busy(120_000))).toBe(120_000);
    expect(delayBefore(1, busy(120_001))).toBeNull();
  });

  it('does not exist if a retry is of no use', () => {
    expect(delayBefore(1, lasting)).toBeNull();
  });

  it('can be interrupted', async () => {
    const started = performance.now();
    await sleep(30, new AbortController().signal);
    expect(performance.now() - started).toBeGreaterThan(25);
    await expect(sleep(60_000, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a text model', () => {
  const prompt = { system: 'Shorten.', user: 'A long text.', max_output_tokens: 99 };

  async function write(script: Script) {
    const requests: unknown[] = [];
    const progress: number[] = [];
    const model = textModel({
      provider: 'scripted',
      model: 'small',
      context_window: 4000,
      memory: memory(),
      connect: async () => ({
        name: 'scripted',
        stream(request, signal) {
          requests.push(request);
          return script(request, signal);
        },
      }),
    });
    const text = await model.write(prompt, (count) => void progress.push(count), new AbortController().signal);
    return { model, text, requests, progress };
  }

  it('sends one prompt without tools', async () => {
    const { model, requests } = await write(answer('Short.'));
    expect(model).toMatchObject({ provider: 'scripted', model: 'small', context_window: 4000 });
    expect(requests).toMatchObject([
      {
        model: 'small',
        system: ['Shorten.'],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'A long text.' }] }],
        tools: [],
        thinking: null,
        context_window: 4000,
        estimated_tokens: 5,
        max_output_tokens: 99,
      },
    ]);
  });

  it('returns the text, and reports its usage', async () => {
    const { text } = await write(answer('Short.', [], USAGE));
    expect(text).toEqual({ text: 'Short.', stop_reason: 'end', usage: USAGE });
    expect(await write(answer('Short.'))).toMatchObject({ text: { usage: null } });
  });

  it('reports the number of characters so far, including thinking', async () => {
    const script = events(
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Sho' },
      { type: 'notice', text: 'cut' },
      { type: 'text', text: 'rt' },
      { type: 'part', part: { type: 'text', text: 'Short' } },
      { type: 'end', stop_reason: 'length', usage: null },
    );
    expect(await write(script)).toMatchObject({ progress: [2, 5, 7], text: { text: 'Short', stop_reason: 'length' } });
  });
});
