import { afterEach, describe, expect, it } from '@jest/globals';
import { textOf } from '../../lib/chat/message.js';
import { HiError } from '../../lib/errors.js';
import { memory } from '../support/memory.js';
import { answer, drain, failure, type Script, type Stage, stage } from '../support/session.js';

let set: Stage;

const say = (text: string) => ({ text, texts: [], attachments: [] });
const never = () => new AbortController().signal;
const tooLong = new HiError('window', 'Too long.');

/** A stage after twelve turns, with these scripts for the next one. */
async function stageWithPast(...scripts: readonly Script[]): Promise<Stage> {
  const past = Array.from({ length: 12 }, (_, index) => answer(`a${index}`));
  const staged = await stage([...past, ...scripts]);
  for (let index = 0; index < past.length; index += 1) await drain(staged.session.send(say(`q${index}`), never()));
  return staged;
}

/** The words of the messages of each request after the first twelve. */
const sent = () => set.requests.slice(12).map(({ messages }) => messages.map(({ content }) => textOf(content)));

afterEach(() => set?.close());

describe('a turn with a request that the server finds too long', () => {
  it('compacts once, and not before the requests that follow', async () => {
    set = await stageWithPast(failure(tooLong), answer('', ['one']), answer('', ['two']), answer('done'));
    const events = await drain(set.session.send(say('last'), never()));
    expect(events.filter(({ type }) => type === 'compact')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', text: 'done' });
    const [tooMuch = [], shorter = [], afterOne = [], afterTwo = []] = sent();
    expect(shorter.length).toBeLessThan(tooMuch.length);
    expect(afterOne.slice(0, shorter.length)).toEqual(shorter);
    expect(afterTwo.slice(0, afterOne.length)).toEqual(afterOne);
  });

  it('compacts again if a later request is too long too', async () => {
    set = await stageWithPast(failure(tooLong), answer('', ['one']), failure(tooLong), answer('done'));
    const events = await drain(set.session.send(say('last'), never()));
    expect(events.filter(({ type }) => type === 'compact')).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', text: 'done' });
    expect(sent().at(-1)).toContain('last');
  });
});

describe('a server that refuses a request as too long', () => {
  it('and names its window is believed from then on', async () => {
    const known = memory();
    const named = new HiError('window', 'This has 9000 tokens; the maximum context length is 8192 tokens.');
    set = await stage([answer('a0'), answer('a1'), failure(named), answer('fine')], {}, 100_000, known);
    for (const text of ['q0', 'q1', 'q2']) await drain(set.session.send(say(text), never()));
    expect(known.facts.context_window).toBe(8192);
    expect(set.requests.at(-1)?.context_window).toBe(8192);
  });

  it('without naming it makes hi ask for the window again', async () => {
    const known = memory({ asked_at: Date.now(), context_window: 50_000 });
    set = await stage([answer('a0'), answer('a1'), failure(tooLong), answer('fine')], {}, 50_000, known);
    for (const text of ['q0', 'q1', 'q2']) await drain(set.session.send(say(text), never()));
    expect(known.facts).toMatchObject({ asked_at: 1, context_window: 50_000 });
  });
});

describe('a message that exceeds the window by the estimate', () => {
  // Four characters count as one token.
  const words = (tokens: number) => 'word '.repeat((tokens * 4) / 5);

  it('by up to a quarter is sent, because the estimate may be that much too high', async () => {
    set = await stage([answer('It fits.')], {}, 4000);
    const events = await drain(set.session.send(say(words(5000)), never()));
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', text: 'It fits.' });
  });

  it('by more than a quarter is refused without a request', async () => {
    set = await stage([answer('It fits.')], {}, 4000);
    await expect(drain(set.session.send(say(words(5004)), never()))).rejects.toMatchObject({
      code: 'window',
      message: 'The request has about 5004 tokens, but the window of m holds 4000.',
    });
    expect(set.requests).toHaveLength(0);
  });
});
