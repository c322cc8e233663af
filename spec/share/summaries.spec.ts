import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Entry, isCompressBlock, isMessage, type NewCompressBlock } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import { newUid, textOf } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { openSharing } from '../../lib/share/share.js';
import { stateOf } from '../../lib/view/block-state.js';
import fc, { cases } from '../support/properties.js';
import {
  depsOf,
  entriesOf,
  KEY,
  type Machine,
  machinesSharing,
  on,
  removeMachine,
  say,
  sync,
} from '../support/shared.js';

let made: Machine[] = [];
afterEach(() => {
  made.forEach(removeMachine);
  made = [];
});

const TOKENS = { tokens_before: asTokens(100), tokens_after: asTokens(10) };

/** What the user said, by the ids of the messages. */
const asked = (entries: readonly Entry[]): ReadonlyMap<number, string> =>
  new Map(
    entries.flatMap((entry) => (isMessage(entry) && entry.role === 'user' ? [[entry.id, textOf(entry.content)]] : [])),
  );

/**
 * Summarises all but the newest `kept` turns of a machine as `name`, citing one of them. Resolves to what the summary
 * covers.
 */
async function summarise(machine: Machine, name: string, kept: number): Promise<ReadonlySet<string>> {
  const covered = new Set<string>();
  await on(machine, async (history) => {
    const write = async function* (): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
      yield* [];
      const said = [...asked(await all(history))];
      const end = said[said.length - kept]?.[0] ?? 1e9;
      for (const [id, text] of said) if (id < end) covered.add(text);
      const [id, text] = said[(covered.size - 1) >> 1] ?? [0, ''];
      const prose = `${name} ${text} [#${id}]`;
      const facts = [{ kind: 'fact', text, ids: [id] }];
      const cut = kept === 0 ? null : { turn: end, id: end };
      const state = { prose: prose.length, facts, ...(cut && { cut }) };
      const first_kept = cut === null ? null : end;
      const counts = { messages_compacted: 2, messages_kept: 2 * kept };
      return {
        type: 'compress',
        content: `${prose}\n\nfacts`,
        strategy: 'summary',
        source: 'model',
        first_kept,
        state,
        ...counts,
        ...TOKENS,
      };
    };
    for await (const _ of history.compact(null, write, 'keep'));
  });
  return covered;
}

async function all(history: HistoryStore): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const entry of history.archive()) found.push(entry);
  return found;
}

/** What a machine sends: the summary in it, and what the user said. */
async function sentBy(machine: Machine) {
  return await on(machine, async (history) => {
    const { block, messages } = history.view(null);
    return { block, asked: [...asked(messages).values()], archived: asked(await all(history)) };
  });
}

const STEPS = ['say', 'say', 'say', 'sync', 'sync', 'summarise'] as const;

describe('a machine that joins without a history', () => {
  it('sends the newest summary of another, which still names its grounds, and all that this one does not cover', async () => {
    const step = fc.record({ what: fc.constantFrom(...STEPS), who: fc.nat(1), n: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const [laptop, desktop, server] = (await machinesSharing('laptop', 'desktop', 'server')) as [
          Machine,
          Machine,
          Machine,
        ];
        made.push(laptop, desktop, server);
        const summaries = new Map<string, ReadonlySet<string>>();
        for (const [at, { what, who, n }] of steps.entries()) {
          const machine = who === 0 ? laptop : desktop;
          if (what === 'say') await say(machine, `word${at}x`);
          else if (what === 'sync') await sync(machine);
          else if (asked(await entriesOf(machine)).size > n)
            summaries.set(`sum${at}`, await summarise(machine, `sum${at}`, n));
        }
        await sync(laptop);
        await sync(desktop);
        await sync(server);
        const { block, asked: sent, archived } = await sentBy(server);
        const [name = '', text = '', cited = ''] = block?.content.split('\n')[0]?.split(' ') ?? [];
        expect(summaries.size > 0).toBe(block !== null);
        const covered = summaries.get(name) ?? new Set();
        for (const word of archived.values()) if (!covered.has(word)) expect(sent).toContain(word);
        if (block === null) return;
        const [id] = [...archived].find(([, word]) => word === text) ?? [];
        expect(cited).toBe(`[#${id}]`);
        expect(block).toMatchObject({ state: { prose: block.content.indexOf('\n'), facts: [{ ids: [id] }] } });
      }),
      { numRuns: cases(15) },
    );
  });

  it('gets none that rests on what was forgotten, nor keeps one once something of it is', async () => {
    const [laptop, desktop, server] = (await machinesSharing('laptop', 'desktop', 'server')) as [
      Machine,
      Machine,
      Machine,
    ];
    made.push(laptop, desktop, server);
    const id = await say(laptop, 'SECRETx');
    await say(laptop, 'more');
    await sync(laptop);
    await sync(desktop);
    await summarise(laptop, 'sum', 0);
    await sync(laptop);
    const named = { uid: newUid(), turns: [], messages: [] };
    await on(desktop, async (history) => {
      const [first] = (await all(history)).filter(isMessage);
      expect(first?.id).toBe(id);
      await history.forget({ kind: 'messages', ids: [id, id + 1] }, () => undefined, named);
    });
    await sync(desktop);
    await sync(server);
    expect((await entriesOf(server)).filter(isCompressBlock)).toEqual([]);
    rmSync(join(server.data), { recursive: true });
    await sync(laptop);
    await sync(server);
    expect(JSON.stringify(await entriesOf(server))).not.toContain('SECRETx');
  });

  it('gets that of a machine that was reset, which says what it leaves out: nothing after a reset of all', async () => {
    for (const isEverywhere of [false, true]) {
      const [laptop, desktop, server] = (await machinesSharing('laptop', 'desktop', 'server')) as [
        Machine,
        Machine,
        Machine,
      ];
      made.push(laptop, desktop, server);
      await say(laptop, 'before');
      await say(desktop, 'also before');
      for (const machine of [laptop, desktop, laptop]) await sync(machine);
      await on(laptop, async (history) => {
        const settings = { folder: laptop.folder, name: 'laptop', key: async () => KEY };
        const sharing = openSharing(settings, depsOf(laptop, history));
        if (isEverywhere) return await sharing.resetEverywhere(false);
        await sharing.beforeReset();
        return await history.reset({ purge: false });
      });
      await sync(desktop);
      for (const word of ['one', 'two', 'three']) await say(laptop, word);
      await summarise(laptop, 'sum', 1);
      await sync(laptop);
      await sync(server);
      const { block, asked: sent, archived } = await sentBy(server);
      expect(block?.content).toContain('sum one');
      expect(sent).toContain('three');
      expect([...archived.values()].includes('before')).toBe(!isEverywhere);
      const skipped = stateOf(block).skipped?.messages ?? 0;
      expect(skipped).toBe(isEverywhere ? 0 : 2);
      expect(block?.content.includes('2 messages of 2026-11-22 are neither in this summary')).toBe(!isEverywhere);
      // What of another machine was said before is not summarised: it is sent.
      expect(sent.includes('also before')).toBe(!isEverywhere);
    }
  });

  it('keeps its own summaries once it has one, and what it joins with is no summary of the others', async () => {
    const [laptop, desktop] = (await machinesSharing('laptop', 'desktop')) as [Machine, Machine];
    made.push(laptop, desktop);
    await say(desktop, 'own');
    await say(laptop, 'one');
    await say(laptop, 'two');
    await summarise(laptop, 'sum', 1);
    await sync(laptop);
    await sync(desktop);
    expect((await entriesOf(desktop)).filter(isCompressBlock)).toEqual([]);
  });
});
