import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../lib/chat/request.js';
import { Recall } from '../../lib/recall/recall.js';
import type { RestTimes } from '../../lib/view/rest.js';
import { CONFIGURED, memoryCache } from '../support/compaction.js';
import { lifeOf, losing } from '../support/long-life.js';
import fc, { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';
import { answer, drain, type Stage, type StageChanges, stage } from '../support/session.js';
import { scripted } from '../support/summarisers.js';

const MINUTE = 60_000;
const TIMES: RestTimes = { cache_life: 5 * MINUTE, after: 60 * MINUTE };

/** A conversation with a clock of its own. */
class Life {
  #time = Date.UTC(2026, 2, 1, 8);

  private constructor(readonly set: Stage) {}

  static async begin(
    said: readonly string[],
    deps: StageChanges,
    window: number,
    rest: RestTimes | null,
  ): Promise<Life> {
    const now = (): Date => new Date(life.#time);
    const scripts = said.map((text) => answer(text));
    const life: Life = new Life(
      await stage(scripts, deps, window, undefined, undefined, { now, ...(rest && { rest }) }),
    );
    return life;
  }

  /** Says something after a pause in milliseconds. Resolves to the strategies of the cuts. */
  async say(text: string, pause: number): Promise<readonly string[]> {
    this.#time += pause;
    const turn = this.set.session.send({ text, texts: [], attachments: [] }, new AbortController().signal);
    const events = await drain(turn);
    return events.flatMap((event) => (event.type === 'compact' ? [event.strategy] : []));
  }

  /** Writes the summary of what left. */
  async idle(): Promise<void> {
    this.set.session.restSummaries.begin(false);
    await this.set.session.restSummaries.settle(60_000);
  }
}

const bytesOf = (request: ChatRequest | undefined): string =>
  JSON.stringify([...(request?.system ?? []), ...(request?.messages ?? [])]).slice(0, -1);

const writer = () => scripted(losing({ obedient: true }));

/** Pauses as people make them: mostly seconds, some minutes, some nights. */
const pauses = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1000, max: 4 * MINUTE }) },
  { weight: 2, arbitrary: fc.integer({ min: 4 * MINUTE, max: 70 * MINUTE }) },
  { weight: 1, arbitrary: fc.integer({ min: 61 * MINUTE, max: 72 * 60 * MINUTE }) },
);
const turns = fc.array(fc.record({ pause: pauses, size: fc.integer({ min: 5, max: 9000 }), summary: fc.boolean() }), {
  minLength: 10,
  maxLength: 40,
});

async function living(
  all: readonly { readonly pause: number; readonly size: number; readonly summary: boolean }[],
  { window, rest }: { readonly window: number; readonly rest: RestTimes | null },
  check: (turn: { readonly pause: number; readonly cuts: readonly string[]; readonly isExtended: boolean }) => void,
): Promise<void> {
  const deps = { compaction: CONFIGURED, writers: () => [writer()], cache: memoryCache() };
  const life = await Life.begin(
    all.map(({ size }, turn) => prose(size, turn)),
    deps,
    window,
    rest,
  );
  try {
    let before = '';
    for (const [turn, { pause, size, summary }] of all.entries()) {
      const cuts = await life.say(`question ${turn} ${prose(size / 3, turn)}`, pause);
      const sent = bytesOf(life.set.requests.at(-1));
      check({ pause, cuts, isExtended: sent.startsWith(before) });
      before = sent;
      if (summary) await life.idle();
    }
  } finally {
    await life.set.close();
  }
}

describe('a life with pauses', () => {
  it('extends each request byte for byte but at cuts, which are at the trigger or where the server has forgotten the prompt', async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.constantFrom(8000, 24_000, 128_000), async (all, window) => {
        await living(all, { window, rest: TIMES }, ({ pause, cuts, isExtended }) => {
          if (!isExtended) expect(cuts).not.toEqual([]);
          if (pause <= TIMES.cache_life) expect(cuts).not.toContain('rest');
        });
      }),
      { numRuns: cases(5) },
    );
  }, 300_000);

  it('is whole below the trigger in a window that the user set, whatever the pause', async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.constantFrom(8192, 32_000, 200_000, 1_000_000), async (all, window) => {
        await living(all, { window, rest: null }, ({ cuts, isExtended }) => {
          expect(cuts.filter((strategy) => strategy === 'rest')).toEqual([]);
          if (cuts.length === 0) expect(isExtended).toBe(true);
        });
      }),
      { numRuns: cases(4) },
    );
  }, 300_000);
});

/** With HI_ROUNDS=10 it is six hundred. */
const TURNS = Math.min(600, cases(60));

describe('a life with a pause after every fourth turn, and a summariser that loses half of its prose each time', () => {
  it('has each fact and each wish in the request that asks for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-nights-'));
    const story = lifeOf(TURNS);
    const facts = story.flatMap(({ fact }) => fact ?? []);
    const wishes = story.flatMap(({ wish }) => wish ?? []);
    const finder = async (): Promise<Recall> => recall;
    const losingModel = writer();
    const life = await Life.begin(
      story.map(({ answered }) => answered),
      {
        settings: { compaction: CONFIGURED },
        models: { writers: () => [losingModel] },
        cache: memoryCache(),
        search: { finder, auto: true },
      },
      128_000,
      TIMES,
    );
    const recall = new Recall({ folder: join(folder, 'recall'), history: life.set.history, writes: true });
    try {
      let rests = 0;
      for (const [turn, { said }] of story.entries()) {
        const cuts = await life.say(said, turn % 4 === 0 ? 600 * MINUTE : 30_000);
        rests += cuts.length;
        if (cuts.length > 0) await life.idle();
      }
      await recall.catchUp(60_000);
      await recall.calibrate(60_000);
      expect(rests).toBeGreaterThan(TURNS / 5);
      const lost: string[] = [];
      for (const { question, text } of [...wishes, ...facts]) {
        await life.say(question, 600 * MINUTE);
        if (!bytesOf(life.set.requests.at(-1)).includes(text)) lost.push(text);
      }
      expect([wishes.length, facts.length, lost]).toEqual([10, TURNS / 10, []]);
    } finally {
      recall.close();
      await life.set.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 300_000);
});
