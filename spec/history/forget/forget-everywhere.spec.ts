import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ForgetOrder } from '../../../lib/chat/occurrence.js';
import { type Forgettable, isNothing } from '../../../lib/history/forget/copies.js';
import { processName } from '../../../lib/history/lock/holder.js';
import type { HistoryStore } from '../../../lib/history/store.js';
import { answers, archived, exchange, fileIn, openIn, quickFolder, says, unzstd, zstd } from '../../support/history.js';
import { texts } from '../../support/history-files.js';
import { prose } from '../../support/prose.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const said = (text: string): ForgetOrder => ({ kind: 'text', text });
const copy = (): string => join(folder, 'history.reset.json.zst');
const damaged = (): string => join(folder, 'history.damaged-2026-01-01T00-00-00.json.zst');
const attachments = (): string => join(folder, 'attachments');
const printed = (path: string): string => unzstd(readFileSync(path)) ?? 'damaged';

/** Forgets; what it told those elsewhere. */
async function forget(store: HistoryStore, order: ForgetOrder): Promise<Forgettable> {
  let told: Forgettable | null = null;
  await store.forget(order, (found) => {
    told = found;
  });
  if (told === null) throw new Error('Nobody elsewhere was told.');
  return told;
}

const image = (sha256: string) => ({ type: 'image', mime: 'image/png', sha256, bytes: 3 }) as const;

describe('forgetting', () => {
  it('first searches everywhere, which changes nothing', async () => {
    const store = await openIn(folder);
    await exchange(store, 'my word is xyzzy', 'noted');
    await store.reset({ purge: false });
    await exchange(store, 'xyzzy again', 'yes');
    writeFileSync(damaged(), zstd(readFileSync(copy())).subarray(0, 40));
    const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('hex')]);
    const found = await store.findForgettable(said('xyzzy'));
    expect({ ...found, messages: texts(found.messages) }).toEqual({
      messages: ['xyzzy again'],
      ...{ summaries: 0, others: 0, shortened: 0, attachments: 0 },
      copies: [
        { path: copy(), messages: 1 },
        { path: damaged(), messages: null },
      ],
    });
    expect(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('hex')])).toEqual(before);
    expect(isNothing(found)).toBe(false);
    const plugh = await store.findForgettable(said('plugh'));
    expect(plugh.copies).toEqual([{ path: damaged(), messages: null }]);
    rmSync(damaged());
    expect(isNothing(await store.findForgettable(said('plugh')))).toBe(true);
    await store.close();
  });

  it.each(['messages', 'summaries', 'others', 'shortened', 'attachments'])(
    'changes something if there are %s',
    (what) => {
      const nothing = { messages: [], summaries: 0, others: 0, shortened: 0, copies: [], attachments: 0 };
      expect(isNothing(nothing)).toBe(true);
      const message = { id: 1, turn: 1, at: '', role: 'user', content: [], cwd: '' } as const;
      expect(isNothing({ ...nothing, ...(what === 'messages' ? { messages: [message] } : { [what]: 1 }) })).toBe(false);
    },
  );

  it('changes the conversation and its copies, whose other content, mode and name stay', async () => {
    const store = await openIn(folder);
    await exchange(store, 'hello', 'good day');
    await exchange(store, 'my word is xyzzy', 'noted');
    await store.reset({ purge: false });
    await exchange(store, 'xyzzy again', 'yes');
    await exchange(store, 'and so on', 'sure');
    const { name } = store;
    writeFileSync(damaged(), readFileSync(copy()).subarray(0, -700));
    const reset = statSync(copy()).mode;
    const told = await forget(store, said('xyzzy'));
    expect(texts(told.messages)).toEqual(['xyzzy again']);
    expect(existsSync(damaged())).toBe(false);
    expect(texts(await archived(store))).toEqual(['yes', 'and so on', 'sure']);
    expect(store.name).toBe(name);
    expect(printed(copy())).not.toContain('xyzzy');
    expect(printed(copy())).toContain('good day');
    expect(statSync(copy()).mode).toBe(reset);
    expect(readdirSync(folder).sort()).toEqual(['history.json.zst', 'history.reset.json.zst']);
    await store.undoReset();
    expect(texts(await archived(store))).toEqual(['hello', 'good day', 'noted']);
    expect((await store.verify()).problems).toEqual([]);
    await store.close();
  });

  it('leaves copies without matches unchanged', async () => {
    const store = await openIn(folder);
    await exchange(store, 'hello', 'good day');
    await store.reset({ purge: false });
    await exchange(store, 'xyzzy', 'yes');
    const whole = zstd(Buffer.from('[]'));
    writeFileSync(damaged(), whole);
    const before = statSync(copy());
    await forget(store, said('xyzzy'));
    expect(statSync(copy())).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(readFileSync(damaged()).equals(whole)).toBe(true);
    await store.close();
  });

  it('rewrites a copy of another program, and one behind a link', async () => {
    const store = await openIn(folder);
    const entries = await exchange(store, 'xyzzy', 'yes');
    await exchange(store, 'and so on', 'sure');
    mkdirSync(join(folder, 'disk'));
    writeFileSync(join(folder, 'disk', 'old'), zstd(Buffer.from(JSON.stringify(entries))), { mode: 0o640 });
    symlinkSync('disk/old', copy());
    await forget(store, said('xyzzy'));
    expect(printed(copy())).not.toContain('xyzzy');
    expect(printed(copy())).toContain('yes');
    expect(readdirSync(join(folder, 'disk'))).toEqual(['old']);
    expect(statSync(join(folder, 'disk', 'old')).mode & 0o777).toBe(0o640);
    await store.close();
  });

  it('removes a damaged copy behind a link, with the link', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    writeFileSync(join(folder, 'old'), 'nonsense');
    symlinkSync('old', damaged());
    await forget(store, said('xyzzy'));
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
    await store.close();
  });

  it('finds messages given by ids in the copies by their content', async () => {
    const store = await openIn(folder);
    await exchange(store, 'hello', 'good day');
    await exchange(store, 'word', 'noted');
    const bytes = readFileSync(fileIn(folder));
    await exchange(store, 'more', 'yes');
    await store.close();
    writeFileSync(copy(), bytes);
    const again = await openIn(folder);
    await forget(again, { kind: 'messages', ids: [3] });
    expect(texts(await archived(again))).toEqual(['hello', 'good day', 'noted', 'more', 'yes']);
    expect(printed(copy())).toMatch(/hello.*noted/);
    expect(printed(copy())).not.toContain('"word"');
    await again.close();
  });

  it('removes the attachments that contain the text, and those without references', async () => {
    const store = await openIn(folder);
    const [holding, shared, only] = [
      await store.attachments.add(Buffer.from('%PDF xyzzy')),
      await store.attachments.add(Buffer.from('shared')),
      await store.attachments.add(Buffer.from('only')),
    ];
    await store.note({ ...says('see'), content: [image(holding)] });
    await store.note({ ...says('xyzzy'), content: [...says('xyzzy').content, image(shared), image(only)] });
    await store.note({ ...says('kept'), content: [image(shared)] });
    expect((await store.findForgettable(said('xyzzy'))).attachments).toBe(3);
    await forget(store, said('xyzzy'));
    expect(readdirSync(attachments())).toEqual([shared]);
    await forget(store, { kind: 'messages', ids: [3] });
    expect(existsSync(attachments())).toBe(false);
    await store.close();
  });

  it('also searches the attachments, but no other files', async () => {
    const store = await openIn(folder);
    const sha256 = await store.attachments.add(Buffer.from('%PDF xyzzy'));
    await store.note({ ...says('see'), content: [image(sha256)] });
    writeFileSync(join(attachments(), 'mine.txt'), 'xyzzy');
    const found = await store.findForgettable(said('xyzzy'));
    expect([found.messages.length, found.attachments]).toEqual([1, 1]);
    await forget(store, said('xyzzy'));
    expect(readdirSync(folder).sort()).toEqual(['attachments', 'history.json.zst']);
    expect(readdirSync(attachments())).toEqual(['mine.txt']);
    await store.close();
  });

  it('waits for a running turn that contains the text', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    await exchange(store, 'hello', 'good day');
    const { id } = await other.begin(says('my word is xyzzy'));
    const before = readFileSync(fileIn(folder));
    let elsewhere = 0;
    const order = store.forget(said('xyzzy'), () => {
      elsewhere += 1;
    });
    await expect(order).rejects.toMatchObject({
      code: 'history',
      message: 'The turn #3 contains some of it and is still running.',
    });
    expect([elsewhere, readFileSync(fileIn(folder)).equals(before)]).toEqual([0, true]);
    await forget(store, said('hello'));
    await other.append(id, [answers('noted')]);
    await forget(store, said('xyzzy'));
    await other.refresh();
    expect(texts(await archived(other))).toEqual(['good day', 'noted']);
    for (const one of [store, other]) await one.close();
  });

  it('needs no conversation for what is stored elsewhere', async () => {
    const store = await openIn(folder);
    expect(isNothing(await forget(store, said('xyzzy')))).toBe(true);
    expect(store.entries).toEqual([]);
    await store.close();
  });

  it('leaves the conversation unchanged if other places cannot be cleaned, so that they can be found again', async () => {
    const store = await openIn(folder);
    await exchange(store, 'xyzzy', 'yes');
    const failing = store.forget(said('xyzzy'), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(texts(await archived(store))).toEqual(['xyzzy', 'yes']);
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
    await store.close();
  });

  it('changes every piece of a long conversation, and another process sees that', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    for (let turn = 0; turn < 8; turn += 1) await exchange(store, `word ${turn % 2}xyzzy`, prose(90_000, turn));
    await other.refresh();
    await forget(store, said('1xyzzy'));
    await other.refresh();
    for (const one of [store, other]) {
      const left = texts(await archived(one)).filter((text) => text.includes('xyzzy'));
      expect(left).toEqual(Array.from({ length: 4 }, () => 'word 0xyzzy'));
      expect(texts(one.view(null).messages)).not.toContain('word 1xyzzy');
    }
    expect(await store.verify()).toEqual({ entries: 12, problems: [] });
    for (const one of [store, other]) await one.close();
  });

  it('leaves what another process attached and has not sent yet', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    await exchange(store, 'xyzzy', 'yes');
    const sha256 = await other.attachments.add(Buffer.from('an image'));
    await forget(store, said('xyzzy'));
    expect(readdirSync(attachments()).sort()).toEqual([sha256, `${sha256}.${processName()}`]);
    for (const one of [store, other]) await one.close();
  });
});
