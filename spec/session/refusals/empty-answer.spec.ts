import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../../../lib/chat/event.js';
import type { Message, Usage } from '../../../lib/chat/message.js';
import type { ChatRequest } from '../../../lib/chat/request.js';
import { HiError } from '../../../lib/errors.js';
import { failureOfEmpty } from '../../../lib/session/refusals/adapt-request.js';
import type { PartialAnswer } from '../../../lib/session/turn/failed-request.js';
import { requestAnswer } from '../../../lib/session/turn/request-answer.js';
import { memory } from '../../support/memory.js';
import { chatRequest } from '../../support/providers.js';
import { failure, type Script } from '../../support/session.js';

const said = (role: Message['role'], text = 'words'): Message => ({
  ...{ id: 1, turn: 1, at: '2026-01-01T00:00:00Z', cwd: '/', role, content: [{ type: 'text', text }] },
});
const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  ...chatRequest(),
  ...{ messages: [said('user'), said('assistant'), said('user')], estimated_tokens: 9000, max_output_tokens: null },
  ...more,
});
const used = (output_tokens: number): Usage => ({
  ...{ input_tokens: 9, cached_tokens: 0, context_tokens: 9 + output_tokens, output_tokens },
});
const ended = (stop_reason: 'end' | 'length' | 'refusal', usage: Usage | null = null) =>
  ({ type: 'end', stop_reason, usage }) as const;

describe('an empty answer', () => {
  it('is a temporary failure, except in the last attempt', () => {
    const one = failureOfEmpty(request(), ended('end'), false);
    expect(one).toMatchObject({ code: 'network', retryable: true, refused: { what: 'unsaid', isCertain: false } });
    expect(failureOfEmpty(request(), ended('end'), true)).toBeNull();
  });

  it('may be the right answer to the results of tools', () => {
    expect(failureOfEmpty(request({ messages: [said('user'), said('tool')] }), ended('end'), false)).toBeNull();
  });

  it.each([null, used(0), used(1)])('at the length limit had no room: %j', (usage) => {
    expect(failureOfEmpty(request(), ended('length', usage), true)).toMatchObject({ code: 'window' });
  });

  it.each<readonly [string, Partial<ChatRequest>, Usage | null]>([
    ['thought of it', {}, used(500)],
    ['was given a limit', { max_output_tokens: 1 }, null],
    ['was asked little', { estimated_tokens: 300 }, null],
    ['was asked one thing', { messages: [said('user')] }, null],
  ])('is accepted if the model %s', (_, more, usage) => {
    expect(failureOfEmpty(request(more), ended('length', usage), false)).toBeNull();
  });

  it('is requested again, the third time in the plainest form, and then accepted', async () => {
    const sent: ChatRequest[] = [];
    const left: PartialAnswer = { parts: [], end: null };
    const known = memory();
    const stream = async function* (one: ChatRequest): AsyncGenerator<StreamEvent> {
      sent.push(one);
      yield ended('end', used(0));
    };
    const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object' } }];
    const shown: string[] = [];
    const signal = new AbortController().signal;
    const asked = requestAnswer(
      { provider: { name: 'scripted', stream }, memory: known },
      request({ tools }),
      left,
      signal,
    );
    for await (const { type } of asked) shown.push(type);
    expect(shown).toEqual(['request', 'usage', 'retry', 'request', 'usage', 'retry', 'request', 'usage']);
    expect(sent.map(({ facts }) => facts?.takes?.tools)).toEqual([undefined, undefined, false]);
    expect(left).toMatchObject({ parts: [], end: { stop_reason: 'end' } });
    expect(known.facts).toEqual({});
  });
});

describe('an answer cut by the window', () => {
  const cut = (message: string): Script => failure(new HiError('window', message), 'x'.repeat(400));

  it.each([
    ['Context size has been exceeded.', { context_window: 9100 }],
    ['Reached context length of 4096 tokens.', { context_window: 4096 }],
  ])('reveals its size: %s', async (message, facts) => {
    const known = memory();
    const left: PartialAnswer = { parts: [], end: null };
    const asked = requestAnswer(
      { provider: { name: 'scripted', stream: cut(message) }, memory: known },
      request({ context_window: 128_000 }),
      left,
      new AbortController().signal,
    );
    await expect(drained(asked)).rejects.toMatchObject({ code: 'window' });
    expect(known.facts).toMatchObject(facts);
  });
});

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}
