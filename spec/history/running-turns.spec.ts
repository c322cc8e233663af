import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { processName } from '../../lib/history/lock/holder.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { answers, archived, dataFolder, exchange, openIn, printed, says } from '../support/history.js';

/** Makes a running turn look like one of a process that was killed. */
async function killed(store: HistoryStore, question: string): Promise<void> {
  const { id } = await store.begin(says(question));
  await store.append(id, [answers('I will look', 'tool_calls')]);
  await store.close();
}

describe('a turn', () => {
  it('cut short by a crash stays in the archive, is not sent, and is reported once', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'one', 'two');
    await killed(await openIn(folder), 'what now?');
    const store = await openIn(folder);
    expect(store.takeNotices()).toEqual([expect.stringContaining('“what now?”')]);
    expect(store.crashedTurn).toBe(3);
    expect(store.view(null).messages).toEqual(said);
    expect(await archived(store)).toHaveLength(4);
    const next = await openIn(folder);
    expect(next.takeNotices()).toEqual([]);
    expect(next.crashedTurn).toBe(3);
    await exchange(next, 'on', 'we go');
    expect((await openIn(folder)).crashedTurn).toBeNull();
  });

  it('cut short by a crash is reported even if another one with its number was, before a reset', async () => {
    const folder = dataFolder();
    await killed(await openIn(folder), 'before');
    const store = await openIn(folder);
    expect(store.takeNotices()).toEqual([expect.stringContaining('“before”')]);
    await store.reset({ purge: false });
    await killed(await openIn(folder), 'after');
    expect((await openIn(folder)).takeNotices()).toEqual([expect.stringContaining('“after”')]);
  });

  it('of a live process is not a crash', async () => {
    const folder = dataFolder();
    const running = await openIn(folder);
    const { id } = await running.begin(says('question'));
    const other = await openIn(folder);
    expect([other.takeNotices(), other.crashedTurn]).toEqual([[], null]);
    expect(other.view(null).messages).toEqual([]);
    await running.append(id, [answers('answer')]);
    await other.refresh();
    expect(other.view(null).messages).toHaveLength(2);
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('of a killed process leaves a mark that the next start removes', async () => {
    const folder = dataFolder();
    await killed(await openIn(folder), 'gone');
    writeFileSync(join(folder, `history.turn.1.${processName().split('.')[0]}.999999999.5`), '');
    expect((await openIn(folder)).crashedTurn).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(['history.json.zst', 'history.told']);
  });

  it('leaves no mark of a killed process behind, even if no turn is open any more', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    writeFileSync(join(folder, `history.turn.1.${processName().split('.')[0]}.999999999.5`), '');
    await exchange(store, 'three', 'four');
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('of a process elsewhere counts as cut short once its mark was unchanged for half a minute, whatever its time', async () => {
    const folder = dataFolder();
    await killed(await openIn(folder), 'elsewhere');
    const mark = join(folder, 'history.turn.1.elsewhere.7.7');
    writeFileSync(mark, '');
    utimesSync(mark, new Date(0), new Date(0));
    const seen = join(folder, 'history.seen');
    const asOf = (milliseconds: number): void => {
      const text = readFileSync(seen, 'utf8');
      writeFileSync(
        seen,
        text.replace(/(\d+)\]\}\}$/, (_, since) => `${Number(since) - milliseconds}]}}`),
      );
    };
    expect((await openIn(folder)).crashedTurn).toBeNull();
    asOf(29_000);
    expect((await openIn(folder)).takeNotices()).toEqual([]);
    asOf(2000);
    expect((await openIn(folder)).takeNotices()).toEqual([expect.stringContaining('“elsewhere”')]);
    expect(existsSync(mark)).toBe(false);
  });

  it('of a process elsewhere that continues is recognised as running', async () => {
    const folder = dataFolder();
    await killed(await openIn(folder), 'elsewhere');
    const mark = join(folder, 'history.turn.1.elsewhere.7.7');
    writeFileSync(mark, '');
    const seen = join(folder, 'history.seen');
    for (const second of [1, 2, 3]) {
      utimesSync(mark, second, second);
      if (second > 1) writeFileSync(seen, readFileSync(seen, 'utf8').replace(/(\d+)\]\}\}$/, '1]}}'));
      expect((await openIn(folder)).takeNotices()).toEqual([]);
    }
  });

  it('is reported together with others', async () => {
    const folder = dataFolder();
    const stores = [await openIn(folder), await openIn(folder), await openIn(folder)];
    for (const [index, store] of stores.entries()) await killed(store, `question ${index}`);
    const later = await openIn(folder);
    expect(later.takeNotices()).toEqual([expect.stringMatching(/^3 turns .*“question 2”/)]);
    expect(later.crashedTurn).toBe(5);
  });

  it('interleaves with the turns of other processes in the file and not in the view', async () => {
    const folder = dataFolder();
    const [one, other] = [await openIn(folder), await openIn(folder)];
    const first = await one.begin(says('one'));
    const second = await other.begin(says('other'));
    await one.append(first.id, [answers('to one')]);
    expect(one.view(first.id).messages.map(({ id }) => id)).toEqual([1, 3]);
    await other.append(second.id, [answers('to the other')]);
    await one.refresh();
    expect(one.view(null).messages.map(({ id, turn }) => [id, turn])).toEqual([
      [1, 1],
      [3, 1],
      [2, 2],
      [4, 2],
    ]);
    expect(JSON.parse(printed(folder))).toHaveLength(4);
  });
});
