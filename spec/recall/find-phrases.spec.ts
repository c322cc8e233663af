import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HistoryStore } from '../../lib/history/store.js';
import type { Recall } from '../../lib/recall/recall.js';
import { exchange, openIn, quickFolder } from '../support/history.js';
import { prose } from '../support/prose.js';
import { recallIn, searchFor } from '../support/recall.js';

/** What was said, and a part of it that has to be found just so. */
const SAID = [
  ['It printed && and left.', '&&'],
  ['The quokka sits\n\tin a box of wood.', 'quokka sits in a box'],
  ['Unter den Linden steht ein Café am Fluss.', 'linden steht ein café am'],
  ['Le café noir, décomposé.'.normalize('NFD'), 'café noir, décomposé'],
  ['数据库迁移在三月完成。', '迁移在三月'],
  ['备份服务器\n每周三凌晨重启。', '服务器每周三'],
  ['Rechnung ＩＮＶ－０４２ bezahlt', 'inv-042 bezahlt'],
  ['ｶｰﾄﾞｷｰは田中さん', 'カードキーは'],
  ['The path is C:\\temp\\new\\quartz.', 'temp\\new\\qua'],
  ['ÜBERMORGEN fahren wir', 'übermorgen fah'],
  ['half of antidisestablishment', 'disestab'],
] as const;

let store: HistoryStore;
let recall: Recall;

beforeAll(async () => {
  const folder = quickFolder();
  store = await openIn(folder);
  for (const [said] of SAID) await exchange(store, said, 'Noted.');
  for (let turn = 0; turn < 16; turn += 1) await exchange(store, `Then ${turn}`, prose(55_000, turn));
  recall = recallIn(folder, store);
  expect(await recall.catchUp(60_000)).toBe(0);
});

afterAll(async () => {
  recall.close();
  await store.close();
});

describe('a phrase', () => {
  it.each([...SAID])('is found in %j by %j', async (said, part) => {
    const { hits } = await recall.search(searchFor(`"${part}"`));
    expect(hits.map(({ text }) => text)).toEqual([said]);
  });

  it('is found across lines, but not with other words in between', async () => {
    expect((await recall.search(searchFor('"sits in a"'))).hits).toHaveLength(1);
    expect((await recall.search(searchFor('"quokka in a"'))).hits).toHaveLength(0);
    expect((await recall.search(searchFor('"迁移三月"'))).hits).toHaveLength(0);
  });
});
