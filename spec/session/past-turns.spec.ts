import { afterEach, describe, expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { pastTurns, redo, turnsFrom } from '../../lib/session/past-turns.js';
import { answers, says } from '../support/history.js';
import { answer, drain, type Stage, stage } from '../support/session.js';

const signal = new AbortController().signal;
const typed = (text: string) => ({ text, texts: [], attachments: [] });

let set: Stage | null = null;
afterEach(async () => {
  await set?.close();
  set = null;
});

/** A session in which these things were said, one turn each. */
async function talk(...questions: readonly string[]): Promise<Stage> {
  set = await stage([answer('yes')]);
  for (const question of questions) await drain(set.session.send(typed(question), signal));
  return set;
}

const inView = ({ history }: Stage): readonly string[] =>
  history
    .view(null)
    .messages.filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content));

describe('the turns of a conversation', () => {
  it('in view can be gone back to, the newest first, by what was typed', async () => {
    const { session, history } = await talk('one', 'two', 'three');
    await drain(session.send({ text: 'four', texts: ['a file'], attachments: [] }, signal));
    expect(pastTurns(history).map(({ id, text }) => [id, text])).toEqual([
      [7, 'four'],
      [5, 'three'],
      [3, 'two'],
      [1, 'one'],
    ]);
    expect(pastTurns(history)[0]?.at).toBe(history.entries[6]?.at);
    expect([turnsFrom(history, 3), turnsFrom(history, 4), turnsFrom(history, 99)]).toEqual([[3, 5, 7], [5, 7], []]);
  });

  it('are undone with everything later, and restored by redo', async () => {
    const one = await talk('one', 'two', 'three');
    const { session, history } = one;
    expect(await session.rewind(3)).toBe('two');
    expect(inView(one)).toEqual(['one']);
    expect(await redo(history)).toEqual([3, 5]);
    expect(inView(one)).toEqual(['one', 'two', 'three']);
    await expect(redo(history)).rejects.toMatchObject({ code: 'usage', message: 'There is nothing to redo.' });
  });

  it.each([2, 99, 0])('do not begin with #%d: that is refused and changes nothing', async (turn) => {
    const one = await talk('one', 'two');
    await expect(one.session.rewind(turn)).rejects.toMatchObject({
      code: 'usage',
      message: `No turn in view starts with #${turn}.`,
    });
    expect(inView(one)).toEqual(['one', 'two']);
  });

  it('undone one after another are restored in the opposite order', async () => {
    const one = await talk('one', 'two', 'three');
    expect([await one.session.undo(), await one.session.undo()]).toMatchObject([{ text: 'three' }, { text: 'two' }]);
    expect([await redo(one.history), await redo(one.history)]).toEqual([[3], [5]]);
    expect(inView(one)).toEqual(['one', 'two', 'three']);
    await one.session.undo();
    await redo(one.history);
    await expect(redo(one.history)).rejects.toThrow('There is nothing to redo.');
  });

  it('stay undone once something else was said', async () => {
    const one = await talk('one', 'two');
    await one.session.undo();
    await drain(one.session.send(typed('other'), signal));
    await expect(redo(one.history)).rejects.toThrow('There is nothing to redo.');
    expect(inView(one)).toEqual(['one', 'other']);
  });

  it('are restored although a turn failed meanwhile, because it left nothing', async () => {
    const one = await talk('one', 'two');
    await one.session.undo();
    const { id } = await one.history.begin(says('failed'));
    await one.history.undo(id);
    expect(await redo(one.history)).toEqual([3]);
    expect(inView(one)).toEqual(['one', 'two']);
  });

  it('are not restored after a compaction', async () => {
    const one = await talk('one', 'two');
    await one.session.undo();
    const sizes = { messages_compacted: 2, messages_kept: 0, tokens_before: asTokens(9), tokens_after: asTokens(5) };
    const written = one.history.compact(
      null,
      async function* (): AsyncGenerator<never, NewCompressBlock> {
        yield* [];
        return { type: 'compress', content: 'sum', strategy: 's', source: 'model', first_kept: null, ...sizes };
      },
      'keep',
    );
    await drain(written);
    await expect(redo(one.history)).rejects.toMatchObject({ message: 'What was undone has been compacted since.' });
  });

  it('are none at first', async () => {
    const one = await talk();
    expect([pastTurns(one.history), turnsFrom(one.history, 1)]).toEqual([[], []]);
    await expect(one.session.undo()).rejects.toMatchObject({ code: 'usage', message: 'There are no turns to undo.' });
    await expect(redo(one.history)).rejects.toMatchObject({ code: 'usage' });
    await expect(drain(one.session.retry(null, signal))).rejects.toMatchObject({
      code: 'usage',
      message: 'There is no message to retry.',
    });
    expect(await one.session.lastInput()).toBeNull();
  });

  it('do not return the words of a turn that was said elsewhere meanwhile', async () => {
    const one = await talk('one');
    const { id } = await one.history.begin(says('two'));
    await one.history.append(id, [answers('yes')]);
    expect(await one.session.lastInput()).toBe('one');
  });
});

describe('a session', () => {
  it('previews a request with the offered tools, asks an aside without, and keeps nothing of either', async () => {
    const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
    set = await stage([answer('yes')], { tools: { specs: [tool] } });
    const { session, history, requests } = set;
    for (const events of [session.tryOut('a', signal), session.aside('b', signal)]) {
      const all = await drain(events);
      expect(all.at(-1)).toMatchObject({ type: 'turn-end', provider: 'scripted', turn: null });
    }
    expect(requests.map(({ tools, messages }) => [tools, textOf(messages.at(-1)?.content ?? [])])).toEqual([
      [[tool], 'a'],
      [[], 'b'],
    ]);
    expect([session.toolSpecs, history.length]).toEqual([[tool], 0]);
  });

  it('sends the last chosen level of thinking, search and model', async () => {
    const one = await talk('one');
    const { session, requests } = one;
    expect([session.thinking, session.web, session.target.model]).toEqual([null, 'off', 'm']);
    session.useThinking('high');
    session.useWeb('on');
    await session.useModel('other', signal);
    await drain(session.send(typed('two'), signal));
    expect(requests[1]).toMatchObject({ model: 'other', thinking: 'high', web: 'on' });
    expect([session.thinking, session.web, session.target.model]).toEqual(['high', 'on', 'other']);
    await drain(session.send(typed('three'), signal, { model: 'third' }));
    expect([requests[2]?.model, session.target.model]).toEqual(['third', 'other']);
  });

  it('keeps nothing that is said off the record, not even a failed question', async () => {
    const one = await talk('one');
    const { session, history } = one;
    await session.goOffRecord();
    const events = await drain(session.send(typed('between us'), signal));
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', turn: null });
    expect(inView(one)).toEqual(['one', 'between us']);
    expect(await session.goOnRecord()).toBe(2);
    expect([inView(one), await session.lastInput(), history.length]).toEqual([['one'], 'one', 2]);
  });

  it('restores what a reset cleared', async () => {
    const one = await talk('one');
    await one.session.reset({ purge: false });
    expect(inView(one)).toEqual([]);
    await one.session.undoReset();
    expect(inView(one)).toEqual(['one']);
    expect((await (await one.session.finder()).around(1, 0, 0)).map(({ message }) => message.id)).toEqual([1]);
  });

  it('marks its answers while a summary in view rests on others’ words, and no others', async () => {
    for (const rests_on of ['foreign', 'own'] as const) {
      const one = await talk('one');
      const sizes = { messages_compacted: 2, messages_kept: 0, tokens_before: asTokens(9), tokens_after: asTokens(5) };
      const written = one.history.compact(
        null,
        async function* (): AsyncGenerator<never, NewCompressBlock> {
          yield* [];
          const block = { type: 'compress', content: 'sum', strategy: 's', source: 'model' } as const;
          return { ...block, first_kept: null, rests_on, ...sizes };
        },
        'keep',
      );
      await drain(written);
      await drain(one.session.send(typed('two'), signal));
      const marks = one.history.entries.map((entry) => ('role' in entry ? entry.rests_on : undefined)).slice(-2);
      expect(marks).toEqual([undefined, rests_on === 'foreign' ? 'foreign' : undefined]);
      await one.close();
    }
    set = null;
  });

  it('shows notices before a turn', async () => {
    set = await stage([answer('yes')], { standing: { settle: async () => ['mind the gap'] } });
    const events = await drain(set.session.send(typed('one'), signal));
    expect(events[0]).toEqual({ type: 'notice', level: 'warning', text: 'mind the gap' });
    expect((await drain(set.session.aside('b', signal)))[0]).toEqual(events[0]);
  });

  it('offers no tools in a turn without them, and checks an answer against its schema', async () => {
    const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
    set = await stage([answer('{}')], { tools: { specs: [tool] } });
    const schema = { name: 'thing', schema: { type: 'object' }, needsTools: false };
    await drain(set.session.send(typed('one'), signal, { tools: false, schema }));
    await drain(set.session.send(typed('two'), signal));
    expect(set.requests.map((request) => [request.tools.length, request.schema])).toEqual([
      [0, schema],
      [1, undefined],
    ]);
  });
});
