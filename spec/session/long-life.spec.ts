import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isCompressBlock, isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { readMemory } from '../../lib/memory/memory-file.js';
import { withLine } from '../../lib/memory/memory-text.js';
import { StandingMemory } from '../../lib/memory/standing-memory.js';
import { Recall } from '../../lib/recall/recall.js';
import { stateOf } from '../../lib/view/block-state.js';
import { CONFIGURED } from '../support/compaction.js';
import { type Keeping, lifeOf, losing, type Planted } from '../support/long-life.js';
import { cases } from '../support/properties.js';
import { searchFor } from '../support/recall.js';
import { answer, drain, type Stage, stage } from '../support/session.js';
import { scripted } from '../support/summarisers.js';

/** A third of them in the second spec; with HI_ROUNDS=3 all. */
const TURNS = 600;
const SOME = Math.min(TURNS, cases(TURNS / 3));

const sentIn = (request: ChatRequest | undefined): string => JSON.stringify([request?.system, request?.messages]);

/** A life of six hundred turns, lived through. */
interface Lived {
  readonly set: Stage;
  readonly passes: number;
  /** The requests that lacked a wish which had been kept by then. */
  readonly lacking: readonly string[];
  readonly facts: readonly Planted[];
  readonly wishes: readonly Planted[];
}

/** Lives it in `folder`, where the memory is too; each wish is kept in the next of these ways. */
async function live(folder: string, turns: number, obedient: boolean, ways: readonly Keeping[]): Promise<Lived> {
  const life = lifeOf(turns);
  const memory = join(folder, 'memory.md');
  const standing = new StandingMemory(memory);
  const writer = scripted(({ ...prompt }) => losing({ obedient })(prompt), { context_window: 100_000 });
  const set = await stage(
    life.map(({ answered }) => answer(answered)),
    {
      settings: { compaction: CONFIGURED },
      models: { writers: () => [writer] },
      standing: { read: () => standing.read() },
    },
    32_000,
  );
  const wishes: Planted[] = [];
  const lacking: string[] = [];
  let kept: Planted[] = [];
  for (const [turn, { said, wish }] of life.entries()) {
    await drain(set.session.send({ text: said, texts: [], attachments: [] }, new AbortController().signal));
    const sent = sentIn(set.requests[turn]);
    for (const { text } of kept) if (!sent.includes(text)) lacking.push(`${turn}: ${text}`);
    if (wish === undefined) continue;
    const way = ways[wishes.length % ways.length];
    if (way === 'pin') await set.session.pins.pin({ place: 2 });
    const origin = { by: 'user', at: '2026-11-23T10:00:00Z', id: null } as const;
    if (way === 'memory') writeFileSync(memory, withLine(readMemory(memory), wish.text, origin));
    wishes.push(wish);
    kept = [...kept, wish];
  }
  const facts = life.flatMap(({ fact }) => fact ?? []);
  const passes = (await entriesOf(set)).filter(isCompressBlock).length;
  return { set, passes, lacking, facts, wishes };
}

async function entriesOf({ history }: Stage) {
  const entries = [];
  for await (const entry of history.archive()) entries.push(entry);
  return entries;
}

async function inLife(
  turns: number,
  obedient: boolean,
  ways: readonly Keeping[],
  check: (lived: Lived, folder: string) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'hi-life-'));
  try {
    const lived = await live(folder, turns, obedient, ways);
    try {
      await check(lived, folder);
    } finally {
      await lived.set.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a long conversation with a summariser that loses half of its prose each time', () => {
  it('of six hundred turns has ten of ten instructions and sixty of sixty facts in view, and each fact cites its message', async () => {
    await inLife(TURNS, true, ['memory', 'pin', 'talk'], async ({ set, passes, lacking, facts, wishes }) => {
      expect(passes).toBeGreaterThan(35);
      expect([wishes.length, facts.length]).toEqual([10, 60]);
      expect(lacking).toEqual([]);
      const last = sentIn(set.requests.at(-1));
      expect([...wishes, ...facts].filter(({ text }) => !last.includes(text))).toEqual([]);
      const messages = new Map((await entriesOf(set)).filter(isMessage).map((message) => [message.id, message]));
      const ledger = stateOf(set.history.view(null).block).facts;
      for (const { text } of facts.slice(0, 55)) {
        const { ids = [] } = ledger.find((fact) => fact.text.startsWith(text)) ?? {};
        expect({ text, said: ids.map((id) => textOf(messages.get(id)?.content ?? []).includes(text)) }).toEqual({
          text,
          said: [true],
        });
      }
    });
  }, 300_000);

  it('loses no fact if it writes prose alone: each is found by a question, and the instructions stay in view', async () => {
    await inLife(SOME, false, ['memory', 'pin'], async ({ set, passes, lacking, facts, wishes }, folder) => {
      expect(passes).toBeGreaterThan(SOME / 18);
      expect([wishes.length, lacking.length]).toEqual([10, 0]);
      const last = sentIn(set.requests.at(-1));
      const inView = facts.filter(({ text }) => last.includes(text));
      expect(inView.length).toBeLessThan(facts.length / 2);
      const recall = new Recall({ folder: join(folder, 'recall'), history: set.history, writes: true });
      await recall.catchUp(60_000);
      const lost: string[] = [];
      for (const { question, text } of facts) {
        const { hits } = await recall.search(searchFor(question));
        if (!hits.some((hit) => hit.text.includes(text))) lost.push(question);
      }
      recall.close();
      expect(lost).toEqual([]);
    });
  }, 300_000);
});
