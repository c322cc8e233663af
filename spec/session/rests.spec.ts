import { describe, expect, it } from '@jest/globals';
import { fileBlock } from '../../lib/chat/marked-text.js';
import { textOf } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { stateOf } from '../../lib/view/block-state.js';
import { CONFIGURED, memoryCache } from '../support/compaction.js';
import { answers, says } from '../support/history.js';
import { prose } from '../support/prose.js';
import { answer, drain, type Stage, type StageChanges, stage } from '../support/session.js';
import { partsOf, type ScriptedModel, scripted } from '../support/summarisers.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A conversation with a clock of its own, in which the server keeps a prompt for five minutes. */
interface Life {
  readonly set: Stage;
  readonly writer: ScriptedModel;
  /** Lets time pass, in milliseconds. */
  wait(pause: number): void;
  /** Says something after a pause, in milliseconds. Resolves to the lines on the screen. */
  say(text: string, pause?: number): Promise<readonly string[]>;
  /** What the last request had. */
  sent(): ChatRequest | undefined;
}

async function inLife(
  live: (life: Life) => Promise<void>,
  { window = 128_000, rests = true, said = prose(2000, 1), deps = {} as StageChanges } = {},
): Promise<void> {
  let now = Date.UTC(2026, 2, 1, 8);
  const writer = scripted((prompt) => {
    const words = partsOf(prompt).conversation.match(/\bNOTE-\w+/g) ?? [];
    return `=== SUMMARY ===\nThey spoke of ${words.join(', ')}.\n=== NEW FACTS ===\n${words.map((word) => `- fact: ${word}`).join('\n')}`;
  });
  const set = await stage(
    [answer(said)],
    { settings: { compaction: CONFIGURED }, models: { writers: () => [writer] }, cache: memoryCache(), ...deps },
    window,
    undefined,
    undefined,
    { now: () => new Date(now), ...(rests && { rest: { cache_life: 5 * MINUTE, after: HOUR } }) },
  );
  const wait: Life['wait'] = (pause) => {
    now += pause;
  };
  const say: Life['say'] = async (text, pause = 10_000) => {
    wait(pause);
    const input = { text, texts: [], attachments: [] };
    const events = await drain(set.session.send(input, new AbortController().signal));
    return events.flatMap((event) => (event.type === 'compact' ? [event.strategy] : []));
  };
  try {
    await live({ set, writer, wait, say, sent: () => set.requests.at(-1) });
  } finally {
    await set.close();
  }
}

const asText = (request: ChatRequest | undefined): string => JSON.stringify([request?.system, request?.messages]);

describe('a conversation', () => {
  it('is whole while the server keeps the prompt, and rests after an hour', async () => {
    await inLife(async ({ set, say, sent }) => {
      for (let turn = 0; turn < 20; turn += 1) expect(await say(`NOTE-${turn} ${prose(500, turn)}`)).toEqual([]);
      expect(await say('within four minutes', 4 * MINUTE)).toEqual([]);
      expect(sent()?.messages).toHaveLength(41);
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      const request = sent();
      expect(request?.messages.length).toBeLessThan(9);
      expect(asText(request)).toContain('within four minutes');
      expect(request?.system.at(-1)).toMatch(/\[Compressed Message Summary\]\n.*You see only a part.*can be searched/);
      expect(request?.system.at(-1)).toMatch(/3\d messages of 2026-03-01 are neither in this summary nor below/);
      expect(await say('and on')).toEqual([]);
      const { block } = set.history.view(null);
      expect(block).toMatchObject({ strategy: 'rest', source: 'none' });
    });
  });

  it('rests also if a command was run before the question, and has its output and the last exchange', async () => {
    await inLife(
      async ({ set, wait, say, sent }) => {
        for (let turn = 0; turn < 4; turn += 1) await say(`NOTE-${turn} ${prose(500, turn)}`);
        wait(10 * HOUR);
        await set.session.note(`DIFF ${prose(20_000, 3)} MIDDLE ${prose(20_000, 4)}`);
        await set.session.note('LINES 3');
        expect(await say('explain this')).toEqual(['rest']);
        const text = asText(sent());
        for (const kept of ['MIDDLE', 'LINES 3', 'NOTE-3']) expect(text).toContain(kept);
        expect(text).not.toContain('NOTE-2');
        await say('next day', 10 * HOUR);
        expect(asText(sent())).not.toContain('MIDDLE');
      },
      { said: prose(14_000, 1) },
    );
  });

  it('rests after a short pause only if much is in view', async () => {
    await inLife(async ({ say, sent }) => {
      for (let turn = 0; turn < 20; turn += 1) await say(prose(500, turn));
      expect(await say('after ten minutes', 10 * MINUTE)).toEqual([]);
      for (let turn = 0; turn < 22; turn += 1) await say(prose(500, turn));
      expect(await say('after ten more', 10 * MINUTE)).toEqual(['rest']);
      expect(sent()?.messages.length).toBeLessThan(9);
    });
  });

  it('never rests in a window that the user set, nor in one below 4,000 tokens', async () => {
    for (const other of [{ rests: false }, { window: 3900, said: 'Fine.' }])
      await inLife(async ({ say }) => {
        for (let turn = 0; turn < 12; turn += 1) expect(await say(prose(400, turn), 10 * HOUR)).toEqual([]);
      }, other);
  });

  it('has the summary of what left at the next rest, and no model is asked before an answer', async () => {
    await inLife(async ({ set, writer, say, sent }) => {
      for (let turn = 0; turn < 15; turn += 1) await say(`NOTE-${turn} ${prose(500, turn)}`);
      await say('first night', 10 * HOUR);
      expect(writer.asked).toHaveLength(0);
      set.session.restSummaries.begin(false);
      await set.session.restSummaries.settle(10_000);
      expect(writer.asked).toHaveLength(1);
      for (let turn = 20; turn < 30; turn += 1) await say(`NOTE-${turn} ${prose(500, turn)}`);
      expect(asText(sent())).not.toContain('NOTE-3');
      expect(await say('second night', 10 * HOUR)).toEqual(['rest']);
      expect(asText(sent())).toContain('They spoke of NOTE-0, NOTE-1');
      expect(writer.asked).toHaveLength(1);
      const { block } = set.history.view(null);
      expect(block?.source).toBe('cache');
      expect(stateOf(block).facts.map(({ text }) => text)).toContain('NOTE-3');
    });
  });

  it('has a summary of the day at once if it was written while the chat was idle', async () => {
    await inLife(async ({ set, say, sent }) => {
      for (let turn = 0; turn < 15; turn += 1) await say(`NOTE-${turn} ${prose(500, turn)}`);
      set.session.restSummaries.begin(true);
      await set.session.restSummaries.settle(10_000);
      expect(await say('good morning', 10 * HOUR)).toEqual(['rest']);
      expect(asText(sent())).toContain('They spoke of NOTE-0');
      expect(asText(sent())).not.toContain('neither in this summary nor below');
    });
  });

  it('keeps a long paste while it is in use, and its name, beginning and end after a night', async () => {
    await inLife(async ({ set, say, sent }) => {
      const paste = `BEGIN ${prose(240_000, 3)} MIDDLE ${prose(1000, 4)} END`;
      await say(`Read this: ${paste}`);
      for (let turn = 0; turn < 10; turn += 1) {
        await say(`question ${turn}`, 5.5 * MINUTE);
        expect(asText(sent())).toContain('MIDDLE');
      }
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      const text = asText(sent());
      expect(text).not.toContain('MIDDLE');
      expect(text).toMatch(/A text, 2\d+ characters, is no longer in view but in #1, .*BEGIN.*END/);
      expect(set.history.view(null).messages[0]?.id).toBe(1);
      expect(text.length / 4).toBeLessThan(7000);
    });
  });

  it('names a paste after every later night too, also where it is among the newest messages', async () => {
    await inLife(async ({ set, say, sent }) => {
      await say(`${prose(20_000, 3)} MIDDLE ${prose(20_000, 4)}`);
      const { turn } = await set.history.begin({ ...says(prose(15_000, 5)), via: 'script' });
      await set.history.append(turn, [answers('Fine.')]);
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      expect(asText(sent())).not.toContain('MIDDLE');
      await set.session.note('a note');
      await say(prose(20_000, 6));
      expect(await say('another day', 10 * HOUR)).toEqual(['rest']);
      expect(sent()?.messages[0]).toMatchObject({ id: 1 });
      expect(asText(sent())).not.toContain('MIDDLE');
    });
  });

  it('names what else is attached to a long file, and a long document', async () => {
    await inLife(async ({ set, say, sent }) => {
      const files = [20_000, 15_000, 15_000].map((size, at) => fileBlock(`f${at}.txt`, prose(size, at)));
      const bytes = Buffer.from(`%PDF-1.4 ${prose(60_000, 7)}`);
      const attachments = [{ kind: 'document', mime: 'application/pdf', bytes, name: 'plan.pdf' }] as const;
      await drain(
        set.session.send({ text: 'Read these.', texts: files, attachments: [] }, new AbortController().signal),
      );
      await drain(set.session.send({ text: 'And this.', texts: [], attachments }, new AbortController().signal));
      expect(await say('after ten minutes', 10 * MINUTE)).toEqual([]);
      expect(await say('next day', 10 * HOUR)).toEqual(['rest']);
      const request = sent();
      expect(request?.attachments.size).toBe(0);
      for (const name of ['f0', 'f1', 'f2'])
        expect(asText(request)).toMatch(
          new RegExp(`The file .{1,3}${name}\\.txt.{1,3}, \\d+ characters, is no longer`),
        );
      expect(asText(request)).toMatch(/\[plan\.pdf \(application\/pdf\), 60009 bytes, is no longer in view but in #3/);
      expect(asText(request).length / 4).toBeLessThan(7000);
    });
  });

  it('keeps a pinned paste whole', async () => {
    await inLife(async ({ set, say, sent }) => {
      const paste = `BEGIN ${prose(20_000, 3)} MIDDLE ${prose(20_000, 4)} END`;
      await say(paste);
      await set.session.pins.pin({ id: 1 });
      await say('next day', 10 * HOUR);
      expect(asText(sent())).toContain('MIDDLE');
      await set.session.pins.unpin({ id: 1 });
      await say('another day', 10 * HOUR);
      expect(asText(sent())).not.toContain('MIDDLE');
      const { message } = await set.session.pins.pin({ id: 1 });
      expect(textOf(message.content)).toContain('MIDDLE');
      await say('and now');
      expect(asText(sent())).toContain('MIDDLE');
    });
  });

  it('summarises the newest 24,000 tokens of what left unasked, and everything when it is asked to', async () => {
    await inLife(async ({ set, writer, say, sent }) => {
      for (let turn = 0; turn < 60; turn += 1) await say(`NOTE-${turn} ${prose(600, turn)}`);
      await say('next day', 10 * HOUR);
      set.session.restSummaries.begin(false);
      await set.session.restSummaries.settle(10_000);
      const read = writer.asked.map(({ user }) => user).join('');
      expect(read).toContain('NOTE-55 ');
      expect(read).not.toContain('NOTE-5 ');
      expect(read.length / 4).toBeLessThan(26_000);
      expect(stateOf(set.history.view(null).block).skipped?.messages).toBeGreaterThan(20);
      await drain(set.session.compact({ focus: null, strategy: null, all: true }, new AbortController().signal));
      expect(await say('now', 20_000)).toEqual([]);
      const facts = stateOf(set.history.view(null).block).facts.map(({ text }) => text);
      expect(facts).toEqual(expect.arrayContaining(['NOTE-0', 'NOTE-30']));
      expect(asText(sent())).not.toContain('neither in this summary nor below');
    });
  });

  it('reads no old backlog when the window is nearly full, and keeps what no summary covers in the archive', async () => {
    const discarding = { settings: { compaction: { ...CONFIGURED, archive: 'discard' } } } as const;
    await inLife(
      async ({ set, writer, say, sent }) => {
        for (let turn = 0; turn < 200; turn += 1) {
          const { turn: id } = await set.history.begin(says(`NOTE-${turn} ${prose(3000, turn)}`));
          await set.history.append(id, [answers(prose(500, turn))]);
        }
        expect(await say('at once')).toEqual(['summary']);
        expect(writer.asked.map(({ user }) => user.length / 4)).toEqual([expect.closeTo(24_000, -4)]);
        expect(asText(sent())).toMatch(/\d{3} messages of 2026-03-01 are neither in this summary nor below/);
        expect(set.history.length).toBe(402);
      },
      { deps: discarding },
    );
  });

  it('lets what scripts asked leave first', async () => {
    await inLife(async ({ set, say, sent }) => {
      for (let turn = 0; turn < 12; turn += 1) await say(`mine-${turn}`);
      for (let turn = 0; turn < 12; turn += 1) {
        const { turn: id } = await set.history.begin({ ...says(`script-${turn}`), via: 'script' });
        await set.history.append(id, [answers(prose(2000, turn))]);
      }
      await say('next day', 10 * HOUR);
      expect(asText(sent())).toMatch(/"script-11".*"next day"/);
      expect(asText(sent())).toContain('"mine-11"');
      expect(asText(sent())).not.toContain('"script-10"');
    });
  });

  it('is as it was before when a rest is taken back, until the next pause', async () => {
    await inLife(async ({ set, say, sent }) => {
      for (let turn = 0; turn < 15; turn += 1) await say(prose(500, turn));
      await say('next day', 10 * HOUR);
      await set.session.uncompact(new AbortController().signal);
      expect(await say('again', 20_000)).toEqual([]);
      expect(sent()?.messages).toHaveLength(33);
    });
  });
});
