import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compactHistory } from '../../lib/session/context/compaction-ahead.js';
import { SETTINGS } from '../support/compaction.js';
import { answers, archived, dataFolder, exchange, fileIn, openIn, says } from '../support/history.js';
import { compressed } from '../support/history-files.js';
import { prose } from '../support/prose.js';

function inTwoFrames(text: string): Buffer {
  const half = text.length >> 1;
  return Buffer.concat([compressed(text.slice(0, half)), compressed(text.slice(half))]);
}

describe('reset', () => {
  it('leaves no history on disk, and the next one begins with id 1', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    expect(existsSync(fileIn(folder))).toBe(false);
    expect(store.entries).toEqual([]);
    expect(store.totals.messages).toBe(0);
    expect((await store.begin(says('anew'))).id).toBe(1);
  });

  it('can be undone until the next one', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const said = await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    await (await openIn(folder)).undoReset();
    await store.refresh();
    expect(store.entries).toEqual(said);
    await store.reset({ purge: false });
    await exchange(store, 'three', 'four');
    await store.reset({ purge: false });
    await store.undoReset();
    expect(await archived(store)).toMatchObject([{ content: [{ text: 'three' }] }, { content: [{ text: 'four' }] }]);
  });

  it('keeps what was said since as the new copy when it is undone', async () => {
    const store = await openIn(dataFolder());
    const first = await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    const second = await exchange(store, 'three', 'four');
    await store.undoReset();
    expect(store.entries).toEqual(first);
    await store.undoReset();
    expect(store.entries).toEqual(second);
  });

  it('keeps nothing with purge', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await store.attachments.add(Buffer.from('an image'));
    await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    await exchange(store, 'three', 'four');
    writeFileSync(join(folder, 'history.damaged-2026-01-01T00-00-00.json.zst'), 'old');
    await store.reset({ purge: true });
    expect(readdirSync(folder)).toEqual([]);
    await expect(store.undoReset()).rejects.toMatchObject({ code: 'history' });
  });

  it.each(['a copy', 'a copy of another program'])(
    'finds out when %s is damaged further back than the next request needs',
    async (whose) => {
      const folder = dataFolder();
      const store = await openIn(folder);
      for (let turn = 0; turn < 12; turn += 1) await exchange(store, `question ${turn}`, prose(60_000, turn));
      const input = { running: null, fixed_tokens: 0, reason: 'manual', focus: null } as const;
      const cache = { get: async () => null, put: async () => {} };
      const settings = { ...SETTINGS, strategy: 'truncate' };
      const signal = new AbortController().signal;
      for await (const _ of compactHistory(store, { ...input, settings }, { models: [], cache, effects: {} }, signal));
      await exchange(store, 'last', 'done');
      const before = await archived(store);
      await store.reset({ purge: false });
      await exchange(store, 'since', 'then');
      const copy = join(folder, 'history.reset.json.zst');
      const bytes = whose === 'a copy' ? readFileSync(copy) : inTwoFrames(JSON.stringify(before));
      const middle = bytes.length >> 2;
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 0x10, middle);
      writeFileSync(copy, bytes);
      await store.undoReset();
      expect(store.takeNotices().join(' ')).toMatch(/^The history was damaged\..* missing|left out.* is kept as/);
      const names = readdirSync(folder).filter(
        (name) => name.startsWith('history.damaged-') && !name.includes('unverified'),
      );
      expect(names.map((name) => readFileSync(join(folder, name)).equals(bytes))).toEqual([true]);
      expect((await store.verify()).problems).toEqual([]);
      await store.undoReset();
      expect(await archived(store)).toMatchObject([{ content: [{ text: 'since' }] }, { content: [{ text: 'then' }] }]);
    },
  );

  it('of an empty history does nothing, and cannot be undone', async () => {
    const store = await openIn(join(dataFolder(), 'not', 'there'));
    for (const purge of [false, true]) await store.reset({ purge });
    await expect(store.undoReset()).rejects.toMatchObject({ code: 'history' });
    expect([store.entries, store.takeNotices()]).toEqual([[], []]);
  });

  it('is not undone if the copy cannot be read: the conversation stays', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    const said = await exchange(store, 'three', 'four');
    const copy = join(folder, 'history.reset.json.zst');
    writeFileSync(copy, 'nonsense');
    await expect(store.undoReset()).rejects.toMatchObject({
      code: 'history',
      message: `The copy '${copy}' is damaged, and nothing in it can be read.`,
    });
    expect(store.entries).toEqual(said);
    expect(readFileSync(copy, 'utf8')).toBe('nonsense');
    expect(readdirSync(folder).sort()).toEqual(['history.json.zst', 'history.reset.json.zst']);
  });

  it('clears a damaged history too', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    writeFileSync(fileIn(folder), 'nonsense');
    await store.reset({ purge: false });
    expect(existsSync(fileIn(folder))).toBe(false);
  });

  it('in another process is noticed, and the next message starts the new conversation', async () => {
    const folder = dataFolder();
    const [one, other] = [await openIn(folder), await openIn(folder)];
    await exchange(one, 'one', 'two');
    await other.reset({ purge: false });
    const said = await exchange(one, 'three', 'four');
    expect(said.map(({ id }) => id)).toEqual([1, 2]);
    await other.refresh();
    expect(other.entries).toEqual(said);
  });

  it('in the middle of a turn of another process moves the whole turn along', async () => {
    const folder = dataFolder();
    const [one, other] = [await openIn(folder), await openIn(folder)];
    await exchange(one, 'before', 'yes');
    const asked = await one.begin(says('question'));
    await one.append(asked.id, [answers('let me see', 'tool_calls')]);
    await other.reset({ purge: false });
    await exchange(other, 'between', 'yes');
    const [last] = await one.append(asked.id, [answers('answer')]);
    expect(last).toMatchObject({ id: 5, turn: 3 });
    expect(await archived(other)).toMatchObject([
      { id: 1, turn: 1 },
      { id: 2, turn: 1 },
      { id: 3, turn: 3, content: [{ text: 'question' }] },
      { id: 4, turn: 3, content: [{ text: 'let me see' }] },
      { id: 5, turn: 3, content: [{ text: 'answer' }] },
    ]);
    expect(one.view(asked.id).messages).toHaveLength(5);
    expect((await openIn(folder)).crashedTurn).toBeNull();
  });

  it('after an interrupted undo keeps the restored conversation, and no other', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const first = await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    await exchange(store, 'three', 'four');
    // As a kill leaves it when the copy is in place, and what was said since has its third name only.
    renameSync(fileIn(folder), join(folder, 'history.swap.json.zst'));
    renameSync(join(folder, 'history.reset.json.zst'), fileIn(folder));
    await store.reset({ purge: false });
    expect(readdirSync(folder)).toEqual(['history.reset.json.zst']);
    await store.undoReset();
    expect(store.entries).toEqual(first);
  });

  it('whose undo was interrupted at any step loses no conversation', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const first = await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    const second = await exchange(store, 'three', 'four');
    // As a kill between two renames leaves it: the copy is in place, what was said since has its third name only.
    const swap = join(folder, 'history.swap.json.zst');
    renameSync(fileIn(folder), swap);
    renameSync(join(folder, 'history.reset.json.zst'), fileIn(folder));
    expect((await openIn(folder)).entries).toEqual(first);
    await store.undoReset();
    expect(store.entries).toEqual(second);
    expect(existsSync(swap)).toBe(false);
  });
});

describe('the attachments of two conversations', () => {
  const image = (bytes: Buffer) =>
    ({
      type: 'image',
      mime: 'image/png',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes: bytes.length,
    }) as const;

  /** Two conversations of one image each, the second one put aside. */
  async function two(folder: string): Promise<readonly [first: string, second: string]> {
    const store = await openIn(folder);
    const shas: string[] = [];
    for (const name of ['first', 'second']) {
      const bytes = Buffer.from(name);
      shas.push(await store.attachments.add(bytes));
      await store.note({ ...says(name), content: [...says(name).content, image(bytes)] });
      if (name === 'first') await store.reset({ purge: false });
    }
    await store.undoReset();
    return [shas[0] ?? '', shas[1] ?? ''];
  }

  it('stay with the conversation that refers to them when the other one is removed', async () => {
    const folder = dataFolder();
    const [first, second] = await two(folder);
    writeFileSync(join(folder, 'attachments', 'mine.txt'), 'mine');
    const store = await openIn(folder);
    await store.reset({ purge: false });
    expect(`${await store.attachments.get(first)}`).toBe('first');
    expect(await store.attachments.get(second)).toBeNull();
    expect(readdirSync(join(folder, 'attachments')).sort()).toEqual([first, 'mine.txt'].sort());
    await store.undoReset();
    expect(`${await store.attachments.get(first)}`).toBe('first');
  });

  it('all stay if a conversation cannot be read', async () => {
    const folder = dataFolder();
    const [first, second] = await two(folder);
    const store = await openIn(folder);
    writeFileSync(fileIn(folder), 'nonsense');
    await store.reset({ purge: false });
    expect(readdirSync(join(folder, 'attachments')).sort()).toEqual([first, second].sort());
  });
});
