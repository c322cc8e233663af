import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { HistoryStore } from '../../lib/history/store.js';
import { answers, archived, dataFolder, exchange, fileIn, openIn, printed, says } from '../support/history.js';
import { compressed, disorder, foreignFile, hiFile, texts } from '../support/history-files.js';

/** A history that is open, with three turns in it, and a copy of its file from after the first. */
async function opened() {
  const folder = dataFolder();
  const store = await openIn(folder);
  await exchange(store, 'first', 'one');
  const early = readFileSync(fileIn(folder));
  await exchange(store, 'second', 'two');
  await exchange(store, 'third', 'three');
  return { folder, store, early };
}

/** What the next look finds, and what is there after one more turn. */
async function goesOn(store: HistoryStore, folder: string) {
  await store.refresh();
  const seen = texts(store.view(null).messages);
  const { messages } = store.totals;
  await exchange(store, 'and now?', 'on we go');
  const entries = await archived(store);
  expect(disorder(entries)).toEqual([]);
  expect(JSON.parse(printed(folder))).toEqual(entries);
  return { seen, messages, texts: texts(entries), notices: store.takeNotices() };
}

describe('another file copied over an open history', () => {
  const more = ['and now?', 'on we go'];

  it('is the conversation from then on if hi wrote it, of whatever size', async () => {
    for (const characters of [40, 20_000]) {
      const other = await hiFile(4, 'other', characters);
      const { folder, store } = await opened();
      writeFileSync(fileIn(folder), other.bytes);
      const all = texts(other.entries);
      expect(await goesOn(store, folder)).toEqual({ seen: all, messages: 8, texts: [...all, ...more], notices: [] });
      await store.close();
    }
  });

  it('is the conversation from then on if it is an older copy of the same', async () => {
    const { folder, store, early } = await opened();
    writeFileSync(fileIn(folder), early);
    const all = ['first', 'one'];
    expect(await goesOn(store, folder)).toEqual({ seen: all, messages: 2, texts: [...all, ...more], notices: [] });
  });

  it('is the conversation from then on if it is an older copy that continued differently', async () => {
    const { folder, store, early } = await opened();
    const elsewhere = dataFolder();
    writeFileSync(fileIn(elsewhere), early);
    const other = await openIn(elsewhere);
    for (const word of ['2nd', '3rd', '4th']) await exchange(other, word, `re ${word}`);
    await other.close();
    copyFileSync(fileIn(elsewhere), fileIn(folder));
    const all = ['first', 'one', '2nd', 're 2nd', '3rd', 're 3rd', '4th', 're 4th'];
    expect(await goesOn(store, folder)).toEqual({ seen: all, messages: 8, texts: [...all, ...more], notices: [] });
  });

  it('is not reported as damaged if another program wrote it', async () => {
    const other = await hiFile(4, 'other');
    const all = texts(other.entries);
    for (const bytes of [foreignFile(other.entries), compressed(JSON.stringify(other.entries, null, 2))]) {
      const { folder, store } = await opened();
      writeFileSync(fileIn(folder), bytes);
      expect(await goesOn(store, folder)).toEqual({ seen: all, messages: 8, texts: [...all, ...more], notices: [] });
    }
  });

  it('is noticed even if another program wrote both', async () => {
    const [one, other] = [await hiFile(2, 'one'), await hiFile(4, 'other')];
    const folder = dataFolder();
    writeFileSync(fileIn(folder), foreignFile(one.entries));
    const store = await openIn(folder);
    expect(store.totals.messages).toBe(4);
    writeFileSync(fileIn(folder), foreignFile(other.entries));
    expect(await goesOn(store, folder)).toMatchObject({ messages: 8, texts: [...texts(other.entries), ...more] });
  });

  it('gets the whole running turn', async () => {
    const other = await hiFile(1, 'other');
    for (const isOther of [true, false]) {
      const { folder, store, early } = await opened();
      const asked = await store.begin(says('running'));
      writeFileSync(fileIn(folder), isOther ? other.bytes : early);
      await store.append(asked.id, [answers('at last')]);
      const entries = await archived(store);
      expect(texts(entries).slice(2)).toEqual(['running', 'at last']);
      expect(disorder(entries)).toEqual([]);
      await store.close();
    }
  });
});
