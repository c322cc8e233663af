import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { textOf } from '../../lib/chat/message.js';
import { prose } from '../support/prose.js';
import { answer, drain, type Stage, stage } from '../support/session.js';

const signal = new AbortController().signal;
const typed = (text: string) => ({ text, texts: [], attachments: [] });

let set: Stage;
beforeEach(async () => {
  set = await stage([answer('looking', ['bash']), answer('found'), answer('noted')], {}, 4000);
  for (const text of ['look it up', 'my word is xyzzy', 'and more']) await drain(set.session.send(typed(text), signal));
});
afterEach(async () => await set.close());

const words = (): readonly string[] => set.session.pins.list().map(({ content }) => textOf(content));
const sent = (): readonly string[] => set.history.view(null).messages.map(({ content }) => textOf(content));

describe('a message', () => {
  it('is pinned once, by its place among the newest or by its id', async () => {
    const { pins } = set.session;
    expect(await pins.pin({ place: 4 })).toMatchObject({ message: { id: 5, role: 'user' }, isNew: true });
    expect(await pins.pin({ id: 1 })).toMatchObject({ message: { id: 1 }, isNew: true });
    expect(await pins.pin({ id: 5 })).toMatchObject({ message: { id: 5 }, isNew: false });
    expect(words()).toEqual(['look it up', 'my word is xyzzy']);
    expect(set.history.entries.filter((entry) => 'type' in entry)).toHaveLength(2);
    expect(pins.tokens).toBe(
      Math.ceil(set.session.pins.list().reduce((sum, { content }) => sum + textOf(content).length, 0) / 4),
    );
    expect(pins.room).toBeGreaterThan(500);
    expect(pins.room).toBeLessThanOrEqual(1000);
  });

  it('is counted only if it contains words: the output of tools is skipped', async () => {
    expect(await set.session.pins.pin({ place: 5 })).toMatchObject({
      message: { id: 4, content: [{ text: 'found' }] },
    });
    expect(await set.session.pins.pin({ place: 6 })).toMatchObject({
      message: { id: 2, content: [{ text: 'looking' }] },
    });
  });

  it("that does not exist, is a tool's output or has no words is refused", async () => {
    const { pins } = set.session;
    for (const [which, message] of [
      [{ place: 8 }, 'There is no message 8: 7 in view.'],
      [{ id: 99 }, "There is no message '#99'."],
      [{ id: 3 }, '#3 is tool output.'],
    ] as const)
      await expect(pins.pin(which)).rejects.toMatchObject({ code: 'usage', message });
    await set.history.note({ role: 'user', content: [{ type: 'thinking', text: 'hm' }], cwd: '/' });
    await expect(pins.pin({ id: 9 })).rejects.toMatchObject({ code: 'usage', message: '#9 has no text to pin.' });
    expect(words()).toEqual([]);
  });

  it('stays in view through compactions, in its place, and can be unpinned by its place in the list or its id', async () => {
    const { pins } = set.session;
    await pins.pin({ id: 5 });
    await pins.pin({ id: 1 });
    for (let turn = 0; turn < 6; turn += 1) await drain(set.session.send(typed(`question ${turn}`), signal));
    await drain(set.session.compact({ focus: null, strategy: 'truncate' }, signal));
    expect(sent().slice(0, 2)).toEqual(['look it up', 'my word is xyzzy']);
    expect(words()).toEqual(['look it up', 'my word is xyzzy']);
    expect(await pins.unpin({ place: 2 })).toMatchObject({ id: 5 });
    expect(sent()).not.toContain('my word is xyzzy');
    expect(await pins.unpin({ id: 1 })).toMatchObject({ id: 1 });
    expect([words(), sent().includes('look it up')]).toEqual([[], false]);
    expect(await pins.pin({ id: 5 })).toMatchObject({ message: { id: 5 }, isNew: true });
    expect(sent()[0]).toBe('my word is xyzzy');
  });

  it('that is not pinned cannot be unpinned', async () => {
    const { pins } = set.session;
    await expect(pins.unpin({ place: 1 })).rejects.toMatchObject({
      code: 'usage',
      message: "'1' is not pinned.",
      hint: 'Nothing is pinned.',
    });
    await pins.pin({ id: 1 });
    for (const [which, name] of [
      [{ place: 2 }, '2'],
      [{ id: 5 }, '#5'],
    ] as const)
      await expect(pins.unpin(which)).rejects.toMatchObject({
        message: `'${name}' is not pinned.`,
        hint: '/pins lists what is pinned.',
      });
  });

  it('that takes too much of the window is refused, alone or with those pinned already', async () => {
    const { pins } = set.session;
    await drain(set.session.send(typed(prose(4 * 700, 1)), signal));
    await drain(set.session.send(typed(prose(4 * 700, 2)), signal));
    await drain(set.session.send(typed(prose(4 * 1100, 3)), signal));
    await expect(pins.pin({ id: 13 })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^#13 has 1100 tokens; pins may take \d+, a quarter of the window\.$/),
      hint: 'Write what matters in a shorter message, and pin that.',
    });
    await pins.pin({ id: 9 });
    await expect(pins.pin({ id: 11 })).rejects.toMatchObject({
      message: expect.stringMatching(/^#11 has 700 tokens, and 700 are pinned already; pins may take \d+/),
      hint: 'Make room with /unpin; /pins lists what is pinned.',
    });
    expect(pins.list().map(({ id }) => id)).toEqual([9]);
  });

  it('is no longer pinned if its turn is undone, until it is redone', async () => {
    await set.session.pins.pin({ place: 2 });
    expect(words()).toEqual(['and more']);
    await set.session.undo();
    expect([words(), set.session.pins.tokens]).toEqual([[], 0]);
  });
});
