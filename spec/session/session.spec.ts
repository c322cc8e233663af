import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { HiError } from '../../lib/errors.js';
import type { SkillLibrary } from '../../lib/skills/skill.js';
import { dataFolder, exchange, fileIn, openIn, says } from '../support/history.js';
import { memory } from '../support/memory.js';
import { answer, drain, failure, NO_SKILLS, type Script, type Stage, stage } from '../support/session.js';

let set: Stage;

const say = (text: string) => ({ text, texts: [], attachments: [] });
const never = () => new AbortController().signal;
const busy = new HiError('overload', 'Busy.', { retryable: true, retryAfter: 1 });
const refused = new HiError('key', 'No.', { hint: 'Another key.' });

const NOTE = { role: 'user', content: [{ type: 'text', text: 'noted' }], cwd: '/work' } as const;

/** What the model was sent, as role and words. */
const sent = (index: number) => set.requests[index]?.messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
const stored = () => set.history.entries.filter(isMessage);

afterEach(() => set?.close());

describe('a turn', () => {
  it('is on disk message by message, and ends with its report', async () => {
    const usage = { input_tokens: 5, output_tokens: 2, cached_tokens: 1, context_tokens: 7 };
    set = await stage([answer('hello', [], usage)]);
    const events = await drain(set.session.send(say('hi'), never()));
    expect(events.at(-1)).toMatchObject({
      type: 'turn-end',
      text: 'hello',
      stop_reason: 'end',
      usage,
      provider: 'scripted',
      model: 'm',
    });
    expect(stored()).toMatchObject([{ role: 'user' }, { role: 'assistant', stop_reason: 'end', usage }]);
  });

  it('yields the usage of each request, and ends with the sum', async () => {
    const usage = (input_tokens: number) => {
      return { input_tokens, output_tokens: 2, cached_tokens: 1, context_tokens: input_tokens + 2 };
    };
    set = await stage([answer('', ['one'], usage(5)), answer('done', [], usage(20))]);
    const events = await drain(set.session.send(say('hi'), never()));
    const each = { type: 'usage', purpose: 'answer', provider: 'scripted', model: 'm' };
    expect(events.filter(({ type }) => type === 'usage')).toEqual([
      { ...each, usage: usage(5) },
      { ...each, usage: usage(20) },
    ]);
    const sum = { input_tokens: 25, output_tokens: 4, cached_tokens: 2, context_tokens: 22 };
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', usage: sum });
  });

  it('reads the texts of the skills once for each request', async () => {
    let times = 0;
    const skills: SkillLibrary = {
      ...NO_SKILLS,
      select: async () => ({ record: { matched: [], active: ['a'] }, loaded: [], dropped: [] }),
      texts: async () => {
        times += 1;
        return [`text ${times}`];
      },
    };
    set = await stage([answer('', ['one']), answer('done')], { skills: async () => skills });
    await drain(set.session.send(say('hi'), never()));
    expect(set.requests.map(({ system }) => system)).toEqual([['text 1'], ['text 2']]);
  });

  it('runs the calls, continues, and lets the tools end what they left running', async () => {
    set = await stage([answer('Let me see.', ['one', 'two']), answer('Seen.')]);
    const events = await drain(set.session.send(say('look'), never()));
    expect(set.toolRuns).toEqual(['one', 'two']);
    expect(set.turnEnds()).toBe(1);
    expect(events.at(-1)).toMatchObject({
      text: 'Seen.',
      tool_calls: [{ name: 'one', result: { name: 'one' } }, { name: 'two' }],
    });
    expect(stored().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(new Set(stored().map(({ turn }) => turn)).size).toBe(1);
  });

  it('ends at its round limit with a message to the model and the user', async () => {
    set = await stage([answer('', ['again'])]);
    const events = await drain(set.session.send(say('loop'), never()));
    expect(set.requests).toHaveLength(3);
    expect(set.toolRuns).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', stop_reason: 'tool_limit' });
    expect(events.some((event) => event.type === 'notice' && event.text.includes('3 rounds'))).toBe(true);
    expect(JSON.stringify(stored().at(-2)?.content)).toContain('Not run');
    await drain(set.session.send(say('next'), never()));
    expect(sent(3)?.at(-1)).toBe('user: next');
  });

  it('reports once if the history was damaged meanwhile and had to be repaired', async () => {
    set = await stage([answer('one'), answer('two')]);
    await drain(set.session.send(say('first'), never()));
    const [file = ''] = set.history.totals.files;
    writeFileSync(file, readFileSync(file).subarray(0, -100));
    const told = async (text: string) =>
      (await drain(set.session.send(say(text), never()))).filter((event) => event.type === 'notice');
    expect(await told('second')).toMatchObject([{ level: 'warning', text: expect.stringContaining('was damaged') }]);
    expect(sent(1)).toEqual(['user: first', 'assistant: one', 'user: second']);
    expect(await told('third')).toEqual([]);
  });

  it('reports that the history was repaired even after another notice about it', async () => {
    const folder = dataFolder();
    const before = await openIn(folder);
    await exchange(before, 'first', 'one');
    await before.begin(says('lost'));
    await before.close();
    const history = await openIn(folder);
    expect(history.takeNotices()).toEqual([expect.stringContaining('“lost”')]);
    set = await stage([answer('two')], { history });
    const told = async (text: string) =>
      (await drain(set.session.send(say(text), never()))).filter((event) => event.type === 'notice');
    writeFileSync(fileIn(folder), readFileSync(fileIn(folder)).subarray(0, -100));
    expect(await told('second')).toMatchObject([{ text: expect.stringContaining('was damaged') }]);
    expect(await told('third')).toEqual([]);
    await history.close();
  });

  it('reports that the model declined, with its reason', async () => {
    const declining: Script = async function* () {
      yield { type: 'end', stop_reason: 'refusal', usage: null, detail: 'policy' };
    };
    set = await stage([declining]);
    const events = await drain(set.session.send(say('no'), never()));
    expect(events).toContainEqual({ type: 'notice', level: 'warning', text: 'The model declined to answer: policy' });
    expect(events.at(-1)).toMatchObject({ stop_reason: 'refusal' });
  });
});

describe('a failure', () => {
  it('that may be temporary is retried after the requested delay, if nothing was shown yet', async () => {
    set = await stage([failure(busy), failure(busy), answer('at last')]);
    const events = await drain(set.session.send(say('x'), never()));
    expect(events.filter(({ type }) => type === 'retry')).toMatchObject([
      { attempt: 1, delay: 1, reason: 'Busy.' },
      { attempt: 2, delay: 1 },
    ]);
    expect(events.at(-1)).toMatchObject({ text: 'at last' });
  });

  it('is not retried once part of the answer was shown, and keeps that part', async () => {
    set = await stage([failure(busy, 'half'), answer('whole')]);
    await expect(drain(set.session.send(say('x'), never()))).rejects.toBe(busy);
    expect(stored().at(-1)).toMatchObject({ stop_reason: 'interrupted', content: [{ type: 'text', text: 'half' }] });
    await drain(set.session.retry(null, never()));
    expect(sent(1)).toEqual(['user: x']);
  });

  it('that is permanent is thrown at once, and the question is not sent again but can be retried', async () => {
    set = await stage([failure(refused), answer('one'), answer('two')]);
    await expect(drain(set.session.send(say('lost?'), never()))).rejects.toBe(refused);
    expect(set.requests).toHaveLength(1);
    expect(stored().map(({ content }) => textOf(content))).toEqual(['lost?']);
    expect(await set.session.lastInput()).toBe('lost?');
    await drain(set.session.send(say('other'), never()));
    expect(sent(1)).toEqual(['user: other']);
  });

  it('of the network gives up after four attempts', async () => {
    set = await stage([failure(busy)]);
    await expect(drain(set.session.send(say('x'), never()))).rejects.toBe(busy);
    expect(set.requests).toHaveLength(4);
  });

  it('that requests a very long delay is reported instead', async () => {
    const long = new HiError('rate', 'Slow down.', { retryable: true, retryAfter: 3_600_000 });
    set = await stage([failure(long)]);
    await expect(drain(set.session.send(say('x'), never()))).rejects.toBe(long);
    expect(set.requests).toHaveLength(1);
  });

  it('because of the length compacts once and sends again', async () => {
    const tooLong = new HiError('window', 'Too long.');
    const scripts = [
      ...Array.from({ length: 6 }, (_, index) => answer(`a${index}`)),
      failure(tooLong),
      answer('fits now'),
    ];
    set = await stage(scripts);
    for (let index = 0; index < 6; index += 1) await drain(set.session.send(say(`q${index}`), never()));
    const events = await drain(set.session.send(say('last'), never()));
    expect(events.filter(({ type }) => type === 'compact')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ text: 'fits now', compaction: { strategy: 'truncate' } });
    expect(sent(7)?.length).toBeLessThan(sent(6)?.length ?? 0);
    expect(sent(7)?.at(-1)).toBe('user: last');
  });

  it('because of the length that nothing can fix is thrown', async () => {
    const tooLong = new HiError('window', 'Too long.');
    set = await stage([failure(tooLong)]);
    await expect(drain(set.session.send(say('x'), never()))).rejects.toMatchObject({
      code: 'window',
      message: expect.stringMatching(
        /^The server rejected the request as too large for .*, though it has only about \d+ tokens\. Too long\.$/,
      ),
    });
    expect(set.requests.length).toBeLessThanOrEqual(2);
  });
});

describe('an interruption', () => {
  const hanging: Script = async function* (_request, signal) {
    yield { type: 'text', text: 'half an ' };
    signal.throwIfAborted();
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };

  it('keeps the partial answer and ends the turn properly', async () => {
    set = await stage([hanging, answer('more')]);
    const stop = new AbortController();
    const events = await drain(set.session.send(say('x'), stop.signal), (event) => {
      if (event.type === 'text') stop.abort();
    });
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', stop_reason: 'interrupted', text: 'half an ' });
    await drain(set.session.send(say('go on'), never()));
    expect(sent(1)).toEqual(['user: x', 'assistant: half an \n[interrupted by the user]', 'user: go on']);
  });

  it('during a tool answers every call, so that each has a result', async () => {
    set = await stage([answer('', ['slow', 'never']), answer('more')]);
    const stop = new AbortController();
    const events = await drain(set.session.send(say('x'), stop.signal), (event) => {
      if (event.type === 'tool-start') stop.abort();
    });
    expect(events.at(-1)).toMatchObject({ stop_reason: 'interrupted' });
    const results = stored().find(({ role }) => role === 'tool')?.content;
    expect(results).toMatchObject([{ error: 'interrupted' }, { error: 'interrupted' }]);
    expect(stored().at(-1)).toMatchObject({ role: 'assistant', stop_reason: 'interrupted' });
  });

  it('while waiting for a retry ends at once', async () => {
    set = await stage([failure(new HiError('rate', 'Wait.', { retryable: true, retryAfter: 60_000 }))]);
    const stop = new AbortController();
    const events = await drain(set.session.send(say('x'), stop.signal), (event) => {
      if (event.type === 'retry') stop.abort();
    });
    expect(events.at(-1)).toMatchObject({ stop_reason: 'interrupted' });
  });
});

describe('the conversation', () => {
  it('undoes the last turn and returns its words', async () => {
    set = await stage([answer('one'), answer('two'), answer('three')]);
    await drain(set.session.send(say('first'), never()));
    await drain(set.session.send(say('second'), never()));
    expect(await set.session.undo()).toMatchObject({ text: 'second' });
    await drain(set.session.send(say('third'), never()));
    expect(sent(2)).toEqual(['user: first', 'assistant: one', 'user: third']);
    expect(stored()).toHaveLength(6);
  });

  it('asks another model again for one turn', async () => {
    set = await stage([answer('one'), answer('two'), answer('three')]);
    await drain(set.session.send(say('first'), never()));
    await drain(set.session.retry('other', never()));
    expect(set.requests[1]).toMatchObject({ model: 'other' });
    expect(sent(1)).toEqual(['user: first']);
    await drain(set.session.send(say('next'), never()));
    expect(set.requests[2]).toMatchObject({ model: 'm' });
    expect(sent(2)).toEqual(['user: first', 'assistant: two', 'user: next']);
  });

  it('answers an aside in context and keeps nothing of it', async () => {
    set = await stage([answer('one'), answer('aside'), failure(refused)]);
    await drain(set.session.send(say('first'), never()));
    const events = await drain(set.session.aside('by the way', never()));
    expect(events.at(-1)).toMatchObject({ text: 'aside', turn: null });
    expect(sent(1)).toEqual(['user: first', 'assistant: one', 'user: by the way']);
    expect(stored()).toHaveLength(2);
    await expect(drain(set.session.aside('again', never()))).rejects.toBe(refused);
  });

  it('loads the skills again that came with the newest message, and none at the beginning', async () => {
    set = await stage([answer('one')]);
    expect(set.session.skills.active).toEqual([]);
    await set.history.note({ ...NOTE, skills: { matched: ['git'], active: ['git'] } });
    expect(set.session.skills.active).toEqual(['git']);
  });

  it('forgets a failed question at a reset', async () => {
    set = await stage([failure(refused), answer('one')]);
    await expect(drain(set.session.send(say('cleared'), never()))).rejects.toBe(refused);
    await set.session.reset({ purge: false });
    expect(await set.session.lastInput()).toBeNull();
    await expect(drain(set.session.retry(null, never()))).rejects.toMatchObject({ code: 'usage' });
    expect(set.requests).toHaveLength(1);
  });

  it('has nothing to undo or to retry at the beginning', async () => {
    set = await stage([answer('one')]);
    await expect(set.session.undo()).rejects.toMatchObject({ code: 'usage' });
    await expect(drain(set.session.retry(null, never()))).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('what is known of the model', () => {
  it('is sent with every request, including what was learnt since the last', async () => {
    const known = memory({ context_window: 4096 });
    set = await stage([answer('One.'), answer('Two.')], {}, 100_000, known);
    await drain(set.session.send(say('first'), never()));
    known.learn({ takes: { images: false } });
    await drain(set.session.send(say('second'), never()));
    expect(set.requests.map((request) => request.facts)).toEqual([
      { context_window: 4096 },
      { context_window: 4096, takes: { images: false } },
    ]);
  });
});
