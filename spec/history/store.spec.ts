import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { answers, archived, dataFolder, exchange, fileIn, openIn, printed, says } from '../support/history.js';
import { prose } from '../support/prose.js';

describe('HistoryStore', () => {
  it('is empty without a file, and reading creates none', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    expect(store.entries).toEqual([]);
    expect(store.totals).toMatchObject({ messages: 0, compactions: 0, last_compaction: null, files: [] });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps messages for the next start, as one JSON array that plain zstd prints', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const said = [];
    for (let turn = 0; turn < 200; turn += 1) {
      said.push(...(await exchange(store, prose(turn, turn), prose(turn * 20, turn))));
      if (turn % 20 === 0) expect(printed(folder)).toBe(JSON.stringify(said));
    }
    expect(printed(folder)).toBe(JSON.stringify(said));
    const later = await openIn(folder);
    expect(later.entries).toEqual(said);
    expect(later.takeNotices()).toEqual([]);
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('assigns ascending ids, and every message of a turn the id of its first message', async () => {
    const store = await openIn(dataFolder());
    const first = await store.begin(says('one'));
    const rest = await store.append(first.id, [answers('two', 'tool_calls'), answers('three')]);
    expect([first, ...rest].map(({ id, turn }) => [id, turn])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect((await store.begin(says('four'))).turn).toBe(4);
  });

  it('shows what another process added before the next request', async () => {
    const folder = dataFolder();
    const [one, other] = [await openIn(folder), await openIn(folder)];
    const said = [...(await exchange(one, 'from one', 'yes')), ...(await exchange(other, 'from the other', 'yes'))];
    await one.refresh();
    expect(one.entries).toEqual(said);
    expect(one.view(null).messages).toEqual(said);
  });

  it('keeps a note as a finished turn', async () => {
    const store = await openIn(dataFolder());
    const note = await store.note(says('$ ls'));
    expect(note.stop_reason).toBe('end');
    expect(store.view(null).messages).toEqual([note]);
  });

  it('leaves undone turns out of the view, and keeps them in the archive', async () => {
    const store = await openIn(dataFolder());
    const first = await exchange(store, 'one', 'two');
    const second = await exchange(store, 'three', 'four');
    await store.undo(second[0]?.id ?? 0);
    expect(store.view(null).messages).toEqual(first);
    expect((await archived(store)).slice(0, 4)).toEqual([...first, ...second]);
  });

  it('reads the newest messages from the end', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    for (let turn = 0; turn < 10; turn += 1) await exchange(store, `question ${turn}`, prose(90_000, turn));
    const all = await archived(store);
    for (const count of [0, 1, 7, 20, 99]) {
      expect(await (await openIn(folder)).newest(count)).toEqual(count === 0 ? [] : all.slice(-count));
    }
  });

  it('writes nothing if it is ephemeral, but has the whole context', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'kept', 'yes');
    const before = printed(folder);
    const store = await openIn(folder, { ephemeral: true });
    const more = await exchange(store, 'not kept', 'no');
    expect(store.view(null).messages).toEqual([...said, ...more]);
    expect(await archived(store)).toEqual([...said, ...more]);
    expect(printed(folder)).toBe(before);
    await store.reset({ purge: false });
    expect(store.entries).toEqual([]);
    expect(existsSync(fileIn(folder))).toBe(true);
  });
});
