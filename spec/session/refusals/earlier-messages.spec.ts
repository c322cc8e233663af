import { describe, expect, it } from '@jest/globals';
import type { ChatEvent } from '../../../lib/chat/event.js';
import type { Message, Part } from '../../../lib/chat/message.js';
import { refusedNow } from '../../../lib/chat/model.js';
import type { ChatRequest } from '../../../lib/chat/request.js';
import { HiError } from '../../../lib/errors.js';
import { type Refused, RequestRefusal } from '../../../lib/providers/common/provider.js';
import { causeOf, withoutRefusedContent } from '../../../lib/session/refusals/adapt-request.js';
import type { PartialAnswer } from '../../../lib/session/turn/failed-request.js';
import { requestAnswer } from '../../../lib/session/turn/request-answer.js';
import { memory } from '../../support/memory.js';
import { chatRequest } from '../../support/providers.js';
import { answer, failure, type Script } from '../../support/session.js';

const text = (words: string): Part => ({ type: 'text', text: words });
const image: Part = { type: 'image', mime: 'image/png', sha256: 'a'.repeat(64), bytes: 1 };
const said = (id: number, role: Message['role'], ...content: readonly Part[]): Message => ({
  ...{ id, turn: id, at: '2026-01-01T00:00:00Z', cwd: '/', role, content },
});
const [old, answered, newest] = [
  said(1, 'user', text('old')),
  said(1, 'assistant', text('Yes.')),
  said(2, 'user', text('new')),
];
const request = (messages: readonly Message[], estimated_tokens = 9000): ChatRequest => ({
  ...chatRequest(),
  ...{ model: 'm', messages, estimated_tokens },
});
const signal = new AbortController().signal;
const declined: Script = async function* () {
  yield { type: 'end', stop_reason: 'refusal', usage: null, detail: 'The content filter stopped the answer.' };
};
const filtered = failure(new HiError('refused', 'The server refused the content.'));

/** What each request held, where the server refuses some, and what was shown. */
async function asked(messages: readonly Message[], isRefused: (request: ChatRequest) => boolean, refusal: Script) {
  const sent: ChatRequest[] = [];
  const shown: ChatEvent[] = [];
  const left: PartialAnswer = { parts: [], end: null };
  const known = memory();
  const provider = {
    name: 'scripted',
    stream: (one: ChatRequest) => {
      sent.push(one);
      return (isRefused(one) ? refusal : answer('Fine.'))(one, signal);
    },
  };
  let error: unknown = null;
  try {
    for await (const event of requestAnswer({ provider, memory: known }, request(messages), left, signal))
      shown.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const notices = shown.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { sent, left, known, error, notices };
}

describe.each([
  ['declines', declined],
  ['refuses', filtered],
])('a filter that %s earlier messages', (_, refusal) => {
  it('is sent the question without them, each time, with a notice', async () => {
    const got = await asked([old, answered, newest], ({ messages }) => messages.includes(old), refusal);
    expect(got.sent.map(({ messages }) => messages.length)).toEqual([3, 1]);
    expect(got.left.parts).toMatchObject([{ text: 'Fine.' }]);
    expect(got.notices).toHaveLength(1);
    expect(got.notices[0]).toContain("'m' refused the content of an earlier message");
    expect(got.known.facts.refused_at?.earlier_parts).toBeUndefined();
  });

  it('is sent the question without an image first', async () => {
    const shown = said(1, 'user', image);
    const got = await asked(
      [shown, answered, newest],
      ({ facts }) => facts?.takes?.earlier_parts === undefined,
      refusal,
    );
    expect(got.sent.map(({ messages }) => messages.length)).toEqual([3, 3]);
    expect(got.notices[0]).toContain('earlier messages are sent as text only');
    expect(got.known.facts).toEqual(refusedNow(['usual_form'], expect.any(Number) as unknown as number));
  });

  it('is sent the question without an earlier declined one first', async () => {
    const got = await asked(
      [said(2, 'user', text('declined')), said(3, 'user', text('other'))],
      ({ messages }) => messages.length > 1,
      refusal,
    );
    expect(got.sent.map(({ messages }) => messages.length)).toEqual([2, 1]);
    expect(got.notices[0]).toContain('earlier messages without an answer are left out');
  });

  it('may still refuse the newest message, and nothing is remembered', async () => {
    const got = await asked([old, answered, newest], () => true, refusal);
    expect(got.sent).toHaveLength(2);
    expect(got.notices).toEqual([]);
    expect(got.known.facts).toEqual({});
    if (refusal === declined) expect(got.left.end).toMatchObject({ stop_reason: 'refusal' });
    else expect(got.error).toMatchObject({ code: 'refused' });
  });
});

describe('the earlier messages that can be left out of a refused request', () => {
  it('are none if there is only the newest message, with the calls after it', () => {
    const call: Part = { type: 'tool_call', call_id: 'a', name: 'bash', args: {} };
    expect(withoutRefusedContent(request([newest, said(2, 'assistant', call)]), 'No.')).toBeNull();
  });
});

describe('the cause of a refusal without a reason', () => {
  const refusal = (refused: Refused, words = 'No.') =>
    new RequestRefusal('request', words, { refused, said: words, param: null });
  const unsaid = refusal({ what: 'unsaid', isCertain: true });
  const ofShort: Script = async function* (one) {
    yield* one.messages.length > 1 ? failure(unsaid)(one, signal) : answer('Fine.')(one, signal);
  };
  const cause = (one: ChatRequest, error: HiError, stream: Script) =>
    causeOf({ name: 's', stream }, one, error, signal);

  it('is the length if the newest message alone is answered', async () => {
    const found = await cause(request([old, answered, newest]), unsaid, ofShort);
    expect(found).toMatchObject({ code: 'window', message: 'No.', cause: unsaid });
  });

  it.each<readonly [string, readonly Message[], number, HiError, Script]>([
    ['all is refused', [old, answered, newest], 9000, unsaid, failure(unsaid)],
    ['it is shorter than any window', [old, answered, newest], 500, unsaid, ofShort],
    ['there is nothing before', [newest], 9000, unsaid, ofShort],
    ['it may pass', [old, answered, newest], 9000, refusal({ what: 'unsaid', isCertain: false }), ofShort],
    [
      'nothing is there',
      [old, answered, newest],
      9000,
      refusal({ what: 'unsaid', isCertain: true }, 'Not Found.'),
      ofShort,
    ],
    ['it was said', [old, answered, newest], 9000, refusal({ what: 'schema' }), ofShort],
  ])('is the refusal if %s', async (_, messages, tokens, error, stream) => {
    expect(await cause(request(messages, tokens), error, stream)).toBe(error);
  });
});
