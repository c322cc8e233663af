import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../lib/chat/request.js';
import { stateOf } from '../../lib/view/block-state.js';
import { CONFIGURED, memoryCache } from '../support/compaction.js';
import { answers, openIn, says } from '../support/history.js';
import { prose } from '../support/prose.js';
import { answer, drain, type Stage, stage } from '../support/session.js';
import { partsOf, scripted } from '../support/summarisers.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const signal = new AbortController().signal;
const NOTHING = { text: '', texts: [], attachments: [] };

/** A conversation with a clock of its own, in which the server keeps a prompt for five minutes. */
interface Life {
  readonly set: Stage;
  /** Says something after a pause, in milliseconds. Resolves to the strategies of its blocks. */
  say(text: string, pause?: number, whole?: boolean): Promise<readonly string[]>;
  /** The texts of the last request. */
  texts(): readonly string[];
  request(): ChatRequest | undefined;
}

async function inLife(
  live: (life: Life) => Promise<void>,
  { model_window = 1_000_000, rests = true, reply = 'Yes.' } = {},
): Promise<void> {
  let now = Date.UTC(2026, 2, 1, 8);
  const writer = scripted((prompt) => {
    const words = partsOf(prompt).conversation.match(/\bNOTE-\w+/g) ?? [];
    return `=== SUMMARY ===\nThey spoke of ${words.join(', ')}.\n=== NEW FACTS ===\n${words.map((word) => `- fact: ${word}`).join('\n')}`;
  });
  const set = await stage(
    [answer(reply)],
    { settings: { compaction: CONFIGURED }, models: { writers: () => [writer] }, cache: memoryCache() },
    128_000,
    undefined,
    undefined,
    { now: () => new Date(now), model_window, ...(rests && { rest: { cache_life: 5 * MINUTE, after: HOUR } }) },
  );
  const say: Life['say'] = async (text, pause = 10_000, whole = false) => {
    now += pause;
    const events = await drain(set.session.send({ text, texts: [], attachments: [] }, signal, { whole }));
    return events.flatMap((event) => (event.type === 'compact' ? [event.strategy] : []));
  };
  const request = (): ChatRequest | undefined => set.requests.at(-1);
  const texts = (): readonly string[] => request()?.messages.map(({ content }) => JSON.stringify(content)) ?? [];
  try {
    await live({ set, say, request, texts });
  } finally {
    await set.close();
  }
}

describe('a question with everything', () => {
  it('has what left the view, as do those after it until the next pause', async () => {
    await inLife(async ({ set, say, texts, request }) => {
      for (let turn = 0; turn < 30; turn += 1) await say(`NOTE-${turn} ${prose(1500, turn)}`);
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      set.session.restSummaries.begin(false);
      await set.session.restSummaries.settle(10_000);
      const rested = texts().length;
      expect(await set.session.whole(NOTHING, signal)).toMatchObject({ messages: 62, left_out: 0 });
      expect(await say('and with everything?', 10_000, true)).toEqual([]);
      expect(texts()).toHaveLength(63);
      expect(request()?.system).toEqual([]);
      const before = texts();
      expect(await say('and now?', 4 * MINUTE)).toEqual([]);
      expect(texts().slice(0, before.length)).toEqual(before);
      // Another process sees the same.
      const other = await openIn(set.folder);
      expect(other.view(null).messages.map(({ id }) => id)).toEqual(
        set.history.view(null).messages.map(({ id }) => id),
      );
      await other.close();
      expect(await say('second night', 10 * HOUR)).toEqual(['rest']);
      expect(texts().length).toBeLessThan(rested + 6);
      expect(request()?.system.at(-1)).toContain('They spoke of NOTE-0');
      expect(stateOf(set.history.view(null).block).facts.map(({ text }) => text)).toContain('NOTE-3');
    });
  });

  it('may be larger than the window that shares are counted from, and is compacted by none of them', async () => {
    await inLife(
      async ({ set, say, texts }) => {
        for (let turn = 0; turn < 40; turn += 1) await say(`NOTE-${turn} ${prose(6000, turn)}`, 2 * HOUR);
        expect(await say('with everything', 10_000, true)).toEqual([]);
        expect(texts()).toHaveLength(81);
        expect(await say('and now?', 10_000)).toEqual([]);
        expect(texts()).toHaveLength(83);
        expect(set.history.view(null).block).toMatchObject({ strategy: 'all', content: '' });
        const { used, context_window } = await set.session.status(signal);
        expect(context_window).toBe(1_000_000);
        expect(used).toBeLessThan(0.3);
        expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
        expect(texts().length).toBeLessThan(8);
      },
      { reply: prose(16_000, 99) },
    );
  });

  it('has the newest turns and the summary where not everything fits', async () => {
    await inLife(
      async ({ set, say, texts, request }) => {
        for (let turn = 0; turn < 40; turn += 1) await say(`NOTE-${turn} ${prose(6000, turn)}`, 2 * HOUR);
        const { messages, left_out, tokens } = await set.session.whole(NOTHING, signal);
        expect(messages + left_out).toBe(80);
        expect(left_out).toBeGreaterThan(10);
        expect(tokens).toBeLessThan(160_000);
        expect(tokens).toBeGreaterThan(140_000);
        expect(await say('with everything', 10_000, true)).toEqual([]);
        expect(texts()).toHaveLength(messages + 1);
        expect(request()?.system.join()).toContain('Compressed Message Summary');
      },
      { model_window: 200_000, reply: prose(16_000, 99) },
    );
  });

  it('appends nothing where everything is in view, and lets a small view come back after a pause', async () => {
    await inLife(async ({ set, say, texts }) => {
      for (let turn = 0; turn < 5; turn += 1) await say(`NOTE-${turn}`);
      await say('with everything', 10_000, true);
      expect(set.history.view(null).block).toBeNull();
      for (let turn = 0; turn < 20; turn += 1) await say(`NOTE-${turn} ${prose(2000, turn)}`);
      await say('next day', 10 * HOUR);
      const rested = texts().length;
      await say('with everything', 10_000, true);
      expect(texts().length).toBe(55);
      // What was in view before needs no rest of its own.
      expect(await say('second night', 10 * HOUR)).toEqual(['rest']);
      expect(texts().length).toBeLessThanOrEqual(rested + 4);
      expect(await say('and now?')).toEqual([]);
    });
  });

  it('has a paste of which only the name was in view, though no message has left', async () => {
    await inLife(async ({ say, texts }) => {
      await say(`BEGIN ${prose(120_000, 3)} MIDDLE ${prose(1000, 4)} END`);
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      expect(texts().join()).not.toContain('MIDDLE');
      await say('what was in the middle?', 10_000, true);
      expect(texts().join()).toContain('MIDDLE');
    });
  });

  it('leaves out what does not fit where everything was in view', async () => {
    await inLife(
      async ({ set, say, texts }) => {
        for (let turn = 0; turn < 60; turn += 1) {
          const { turn: id } = await set.history.begin(says(`NOTE-${turn} ${prose(6000, turn)}`));
          await set.history.append(id, [answers(prose(6000, turn))]);
        }
        const { messages, tokens } = await set.session.whole(NOTHING, signal);
        expect(tokens).toBeLessThan(128_000);
        const long = await set.session.whole({ ...NOTHING, texts: [prose(200_000, 1)] }, signal);
        expect(long.messages).toBeLessThan(messages - 20);
        expect(long.tokens / tokens).toBeCloseTo(1, 1);
        expect(await say('with everything', 10_000, true)).toEqual([]);
        expect(texts()).toHaveLength(messages + 1);
        expect(messages).toBeGreaterThan(70);
      },
      { model_window: 160_000 },
    );
  });

  it('brings a long paste back after a night in which only its name was in view', async () => {
    await inLife(async ({ say, texts }) => {
      await say(`Read this: BEGIN ${prose(240_000, 3)} MIDDLE ${prose(1000, 4)} END`);
      for (let turn = 0; turn < 10; turn += 1) await say(`question ${turn}`, 4 * MINUTE);
      await say('next day', 10 * HOUR);
      expect(texts().join()).not.toContain('MIDDLE');
      await say('what is in the middle?', 10_000, true);
      expect(texts().join()).toContain('MIDDLE');
    });
  });

  it('is compacted like every other where a compaction is asked for, and taken back as one', async () => {
    await inLife(async ({ set, say, texts }) => {
      for (let turn = 0; turn < 30; turn += 1) await say(`NOTE-${turn} ${prose(1500, turn)}`);
      await say('next day', 10 * HOUR);
      await say('with everything', 10_000, true);
      for await (const _ of set.session.compact({ focus: null, strategy: 'summary' }, signal));
      await say('and now?');
      expect(texts().length).toBeLessThan(9);
      await set.session.uncompact(signal);
      await say('and then?');
      expect(texts().length).toBeLessThan(20);
    });
  });

  it('stays within the window of which shares are counted where nothing rests', async () => {
    await inLife(
      async ({ set, say }) => {
        for (let turn = 0; turn < 40; turn += 1) await say(`NOTE-${turn} ${prose(6000, turn)}`);
        const { tokens } = await set.session.whole(NOTHING, signal);
        expect(tokens).toBeLessThan(102_400);
      },
      { rests: false, reply: prose(16_000, 99) },
    );
  });
});
