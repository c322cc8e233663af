import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import type { TextPart } from '../../lib/chat/message.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { Recall } from '../../lib/recall/recall.js';
import type { Reminded } from '../../lib/recall/search.js';
import { Reminders } from '../../lib/session/reminders.js';
import { monotonic } from '../../lib/waits.js';
import { fileIn, openIn, quickFolder, zstd } from '../support/history.js';
import { Log } from '../support/log.js';

type Remind = Recall['remind'];

/** A search that answers as it is told, and remembers what it was asked. */
class Scripted extends Recall {
  readonly asked: Parameters<Remind>[] = [];
  readonly #answer: Awaited<ReturnType<Remind>>;

  constructor(answer: Awaited<ReturnType<Remind>>) {
    super({
      folder: '',
      history: {
        reading: async () => await Promise.reject(new Error('Nothing is to be opened.')),
        undisturbed: async (work) => await work(),
      },
      writes: false,
    });
    this.#answer = answer;
  }

  override async remind(...asked: Parameters<Remind>): ReturnType<Remind> {
    this.asked.push(asked);
    return this.#answer;
  }
}

let folder: string;
let history: HistoryStore;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(async () => {
  await history.close();
  rmSync(folder, { recursive: true });
});

/** A conversation of so many turns, of which the last three are in view. */
async function talk(turns: number): Promise<Log> {
  const log = new Log();
  for (let turn = 0; turn < turns; turn += 1) log.exchange(`question ${turn}`, `answer ${turn}`);
  const first = 2 * turns - 5;
  const entries: object[] = [...log.entries];
  entries.push({
    ...{
      type: 'compress',
      id: 2 * turns + 1,
      at: '2026-02-01T00:00:00Z',
      content: 'sum',
      strategy: 's',
      source: 'model',
    },
    ...{ first_kept: first, messages_compacted: 2 * turns - 6, messages_kept: 6, tokens_before: 9, tokens_after: 5 },
    state: { cut: { turn: first, id: first } },
  });
  writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(entries))));
  history = await openIn(folder);
  return log;
}

const QUESTION = 'How many florins does the astrolabe of Regensburg cost?';

/** What is recalled for a message, what is shown, and why. */
async function recalled(
  answer: Awaited<ReturnType<Remind>> | Recall,
  question = QUESTION,
  auto = true,
  window = 128_000,
) {
  const finder = answer instanceof Recall ? answer : new Scripted(answer);
  const reminders = new Reminders(history, { finder: async () => finder, auto, tokens: 3000 }, () => window);
  const events: ChatEvent[] = [];
  const running = reminders.for([{ type: 'text', text: question }]);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { part: (value as readonly TextPart[])[0] ?? null, events, why: reminders.why };
    events.push(value);
  }
}

const THRESHOLDS = { whole: 4.2, newest: 1.1 };
const LIMITS = 'The threshold is 4.2, for recent messages 1.1.';

const nothing = (why: string) => ({ part: null, events: [], why: `Nothing was recalled for the last message: ${why}` });
function found(entry: Entry | undefined): Reminded {
  if (entry === undefined || !isMessage(entry)) throw new Error('That is no message.');
  const reminder = { message: entry, certainty: 9.5, text: 'The astrolabe costs 7 florins.', origin: 'user' } as const;
  return { reminders: [reminder], best: 9.5, thresholds: THRESHOLDS };
}

describe('automatic recall', () => {
  it('adds the best match, with a line about it that gives the reason', async () => {
    const log = await talk(150);
    const { part, events, why } = await recalled(found(log.entries[4]));
    expect(part).toMatchObject({
      type: 'text',
      recalled: [5],
      text: expect.stringContaining('The astrolabe costs 7 florins.'),
    });
    expect(events).toEqual([{ type: 'notice', level: 'info', text: expect.stringMatching(/recalled/i) }]);
    expect(why).toBe(`Recalled for the last message: #5. The best match has 9.5. ${LIMITS}`);
  });

  it('searches what is not in view, and is patient', async () => {
    await talk(150);
    const finder = new Scripted({ reminders: [], best: 0, thresholds: THRESHOLDS });
    await recalled(finder);
    const [[asked, known, tokens, end] = []] = finder.asked;
    expect(asked).toContain('astrolabe');
    expect([known?.isSeen(300), known?.isSeen(295), known?.isSeen(294)]).toEqual([true, true, false]);
    expect([known?.isSaid('answer 149'), known?.isSaid('answer 3')]).toEqual([true, false]);
    expect(tokens).toBe(3000);
    expect(end).toBeGreaterThan(monotonic());
  });

  it.each([
    [1_000_000, 3000],
    [32_000, 3000],
    [16_000, 750],
    [8000, 187],
  ])('fills of a window of %i tokens at most %i', async (window, most) => {
    await talk(20);
    const finder = new Scripted({ reminders: [], best: 0, thresholds: THRESHOLDS });
    await recalled(finder, QUESTION, true, window);
    expect(finder.asked.map(([, , tokens]) => tokens)).toEqual([most]);
  });

  it('adds nothing if nothing matches, or the search is too slow', async () => {
    await talk(150);
    expect(await recalled({ reminders: [], best: 0, thresholds: THRESHOLDS })).toEqual(
      nothing(`nothing outside the view matches well enough. No match comes near it. ${LIMITS}`),
    );
    expect(await recalled({ reminders: [], best: 3.14, thresholds: THRESHOLDS })).toEqual(
      nothing(`nothing outside the view matches well enough. The best match has 3.1. ${LIMITS}`),
    );
    expect(await recalled('late')).toEqual(nothing('the search took longer than 3 s.'));
  });

  it('adds nothing, without a search, if it is off, the conversation is short, or the question has no rare word', async () => {
    await talk(150);
    const finder = new Scripted('late');
    expect(await recalled(finder, QUESTION, false)).toEqual(nothing('automatic recall is off.'));
    expect(await recalled(finder, 'and?')).toEqual(nothing('the message has no rare words.'));
    await history.close();
    for (const turns of [1, 4]) {
      await talk(turns);
      expect(await recalled(finder)).toEqual(nothing('fewer than 4 messages are out of view.'));
      await history.close();
    }
    expect(finder.asked).toEqual([]);
    await talk(5);
    expect((await recalled(finder)).why).toContain('took longer');
  });

  it('never stops a message: a failed search is reported', async () => {
    await talk(150);
    const reminders = new Reminders(
      history,
      { finder: async () => await Promise.reject(new Error('no')), auto: true, tokens: 3000 },
      () => 128_000,
    );
    expect(reminders.why).toBe('No message has been sent yet.');
    expect(await reminders.for([{ type: 'text', text: QUESTION }]).next()).toEqual({ done: true, value: [] });
    expect(reminders.why).toBe('The conversation could not be searched. To see why, run: hi config check');
  });
});
