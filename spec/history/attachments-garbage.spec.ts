import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Entry, rememberOriginal } from '../../lib/chat/entry.js';
import type { Message } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import {
  attachmentName,
  attachmentsIn,
  clearLostMark,
  collectGarbage,
  commitAttachment,
  hashOf,
  hasOrphans,
  lostNotice,
  markLost,
  readAttachment,
  releaseAttachment,
  storeAttachment,
} from '../../lib/history/attachments.js';
import { type HistoryPaths, historyPathsIn } from '../../lib/history/base/history-paths.js';
import { Damaged } from '../../lib/history/file/frames.js';
import { processName } from '../../lib/history/lock/holder.js';
import { openIn, quickFolder, says } from '../support/history.js';

let paths: HistoryPaths;
beforeEach(() => {
  paths = historyPathsIn(quickFolder());
});
afterEach(() => rmSync(paths.folder, { recursive: true, force: true }));

const inFolder = (name: string): string => join(paths.attachments, name);
const names = (): readonly string[] => readdirSync(paths.attachments).sort();
const BYTES = Buffer.from('some bytes');
const HASH = hashOf(BYTES);
const [place] = processName().split('.');
/** The name of a process of this machine that has ended. */
const DEAD = `${place}.999999999.1`;

const image = (sha256: string) => ({ type: 'image', mime: 'image/png', sha256, bytes: 10 }) as const;
const message = (...hashes: readonly string[]): Message => ({
  ...{ id: 1, turn: 1, at: '', role: 'user', cwd: '/' },
  content: [{ type: 'text', text: 'look' }, ...hashes.map(image)],
});

describe('a stored attachment', () => {
  it('is pending until its message is written, or until it is given up', () => {
    expect(storeAttachment(paths, BYTES)).toBe(HASH);
    expect(names()).toEqual([HASH, `${HASH}.${processName()}`]);
    expect(statSync(inFolder(HASH)).mode & 0o777).toBe(0o600);
    expect(statSync(paths.attachments).mode & 0o777).toBe(0o700);
    expect(hasOrphans(paths)).toBe(false);
    commitAttachment(paths, HASH);
    expect(names()).toEqual([HASH]);
    storeAttachment(paths, BYTES);
    releaseAttachment(paths, HASH);
    expect(names()).toEqual([HASH]);
    expect(readAttachment(paths, HASH)).toEqual(BYTES);
  });

  it('that another process removed as garbage is restored when its message is written', () => {
    storeAttachment(paths, BYTES);
    rmSync(inFolder(HASH));
    commitAttachment(paths, HASH);
    expect([names(), readAttachment(paths, HASH)]).toEqual([[HASH], BYTES]);
    rmSync(inFolder(HASH));
    commitAttachment(paths, HASH);
    expect(names()).toEqual([]);
  });

  it('that is intact is not written again; an altered one and an empty folder in its place are replaced', () => {
    storeAttachment(paths, BYTES);
    const { ino } = statSync(inFolder(HASH));
    commitAttachment(paths, HASH);
    storeAttachment(paths, BYTES);
    expect(statSync(inFolder(HASH)).ino).toBe(ino);
    writeFileSync(inFolder(HASH), 'altered');
    expect(readAttachment(paths, HASH)).toBeNull();
    storeAttachment(paths, BYTES);
    expect(readAttachment(paths, HASH)).toEqual(BYTES);
    rmSync(inFolder(HASH));
    mkdirSync(inFolder(HASH));
    expect(readAttachment(paths, HASH)).toBeNull();
    storeAttachment(paths, BYTES);
    expect(readAttachment(paths, HASH)).toEqual(BYTES);
  });

  it('is refused if a foreign folder is in its place, and nothing is left of it', () => {
    mkdirSync(join(inFolder(HASH), 'mine'), { recursive: true });
    expect(() => storeAttachment(paths, BYTES)).toThrow('EISDIR');
    expect(names()).toEqual([HASH]);
    rmSync(paths.attachments, { recursive: true });
    writeFileSync(paths.attachments, 'a file');
    expect(() => storeAttachment(paths, BYTES)).toThrow('ENOTDIR');
    expect(readFileSync(paths.attachments, 'utf8')).toBe('a file');
  });
});

describe('unreferenced attachments', () => {
  const garbage = (...logs: readonly Iterable<Entry>[]): void => collectGarbage(paths, logs);
  const put = (...files: readonly string[]): void => {
    mkdirSync(paths.attachments, { recursive: true });
    for (const name of files) writeFileSync(inFolder(name), 'x');
  };
  const [one, two, three, four] = ['1'.repeat(64), '2'.repeat(64), '3'.repeat(64), '4'.repeat(64)] as const;

  it('are removed, with their marks, and no other file is', () => {
    put(one, two, three, `${two}.lost`, `${three}.lost`, 'mine.txt', `${one}.bak`, `x${four}`, `${four}0`);
    garbage([message(one)], [message(three)]);
    expect(names()).toEqual(['mine.txt', one, `${one}.bak`, three, `${three}.lost`, `x${four}`, `${four}0`].sort());
    garbage();
    expect(names()).toEqual(['mine.txt', `${one}.bak`, `x${four}`, `${four}0`].sort());
  });

  it('do not include those that a pin, the pins of a summary or an element of a later version names', () => {
    put(one, two, three, four);
    const sizes = { messages_compacted: 0, messages_kept: 0, tokens_before: asTokens(0), tokens_after: asTokens(0) };
    const text = { at: '', content: '', strategy: 's', source: 'model', first_kept: null, ...sizes } as const;
    const log: Entry[] = [
      { type: 'pin', id: 1, at: '', message: message(one) },
      { type: 'compress', id: 2, ...text, pins: { until: 1, messages: [message(two)] } },
      { type: 'compress', id: 3, ...text },
      rememberOriginal({ type: 'unknown', id: 4, at: '', what: 'x' }, `{"a":"${three}","b":"${four}f"}`),
      rememberOriginal({ type: 'unknown', id: 5, at: '', what: 'x' }, '{}'),
      { type: 'undo', id: 6, at: '', turns: [] },
    ];
    garbage(log);
    expect(names()).toEqual([one, two, three]);
  });

  it('are only searched for while there may be any', () => {
    put(one);
    function* log(): Generator<Entry> {
      yield message(one);
    }
    function* unread(): Generator<Entry> {
      yield* [];
      throw new Error('This log need not be read.');
    }
    garbage(log(), unread());
    expect(names()).toEqual([one]);
  });

  it('all stay if a log is damaged, and other failures are reported', () => {
    put(one);
    const failing = (error: Error): Iterable<Entry> => ({
      *[Symbol.iterator]() {
        yield* [];
        throw error;
      },
    });
    garbage(failing(new Damaged('x')));
    expect(names()).toEqual([one]);
    expect(() => garbage(failing(new Error('no')))).toThrow('no');
    expect(names()).toEqual([one]);
  });

  it('are those of a dead process that wrote no message; others of it are committed', () => {
    put(one, `${one}.${DEAD}`, `${two}.${DEAD}`, three, `${three}.${DEAD}`, four, `${four}.${processName()}`);
    expect(hasOrphans(paths)).toBe(true);
    garbage([message(one, two)]);
    expect(names()).toEqual([one, two, four, `${four}.${processName()}`].sort());
    expect(hasOrphans(paths)).toBe(false);
  });

  it('are those of a process elsewhere that were unchanged for ten minutes', () => {
    put(one, `${one}.elsewhere.7.7`);
    const seen = join(paths.folder, 'history.seen');
    const passed = (seconds: number): boolean => {
      const text = readFileSync(seen, 'utf8');
      writeFileSync(
        seen,
        text.replace(/(\d+)\]\}\}$/, (_, since) => `${Number(since) - seconds * 1000}]}}`),
      );
      return hasOrphans(paths);
    };
    expect(hasOrphans(paths)).toBe(false);
    expect([passed(590), passed(20)]).toEqual([false, true]);
    garbage([]);
    expect(names()).toEqual([]);
  });
});

describe('the loss of an attachment', () => {
  const parts = [
    { ...image(HASH), name: 'cat.png' },
    { type: 'document', mime: 'application/pdf', sha256: HASH, bytes: 1 },
  ] as const;

  it('is reported once, by whichever process finds it first, and again if it was restored in between', async () => {
    const [store, other] = [await openIn(paths.folder), await openIn(paths.folder)];
    const sha256 = await store.attachments.add(BYTES);
    await store.note({ ...says('see'), content: [image(sha256)] });
    rmSync(inFolder(sha256));
    await store.attachments.reportLost([image(sha256)]);
    await other.attachments.reportLost([image(sha256)]);
    expect([store.takeNotices().length, other.takeNotices()]).toEqual([1, []]);
    expect(names()).toEqual([`${sha256}.lost`]);
    await store.attachments.add(BYTES);
    expect(names()).not.toContain(`${sha256}.lost`);
    rmSync(inFolder(sha256));
    await other.attachments.reportLost([image(sha256)]);
    expect(other.takeNotices()).toHaveLength(1);
    writeFileSync(inFolder(sha256), BYTES);
    await other.attachments.get(sha256);
    expect(names()).not.toContain(`${sha256}.lost`);
    await store.attachments.reportLost([]);
    expect(store.takeNotices()).toEqual([]);
  });

  it('is reported each time if nothing can be written', async () => {
    const store = await openIn(paths.folder, { ephemeral: true });
    expect([markLost(paths, HASH, false), markLost(paths, HASH, false)]).toEqual([true, true]);
    expect(readdirSync(paths.folder)).toEqual([]);
    expect([markLost(paths, HASH, true), markLost(paths, HASH, true), markLost(paths, HASH, false)]).toEqual([
      true,
      false,
      false,
    ]);
    await store.attachments.get(HASH);
    expect(names()).toEqual([`${HASH}.lost`]);
    clearLostMark(paths, HASH);
    clearLostMark(paths, HASH);
    expect(names()).toEqual([]);
    rmSync(paths.attachments, { recursive: true });
    writeFileSync(paths.attachments, 'a file');
    expect([markLost(paths, HASH, true), markLost(paths, HASH, true)]).toEqual([true, true]);
  });

  it('names files of the user by name, others by type', () => {
    expect(parts.map(attachmentName)).toEqual(["image 'cat.png'", "document 'application/pdf'"]);
    expect(lostNotice(parts.slice(0, 1))).toBe(
      "The image 'cat.png' is missing or altered; the model is told that it is no longer there. Attach the same file again to bring it back.",
    );
    expect(lostNotice(parts)).toBe(
      "2 attachments are missing or altered (image 'cat.png', document 'application/pdf'); the model is told that they are no longer there. Attach the same files again to bring them back.",
    );
  });
});

describe('the attachments of an entry', () => {
  it('are its images and documents', () => {
    expect(attachmentsIn(message(HASH)).map(({ sha256 }) => sha256)).toEqual([HASH]);
    expect(attachmentsIn({ type: 'undo', id: 1, at: '', turns: [] })).toEqual([]);
  });
});

describe('an attachment of the chat', () => {
  it('that was never sent is removed by a purge, and those that other processes have pending stay', async () => {
    const store = await openIn(paths.folder);
    const sha256 = await store.attachments.add(BYTES);
    mkdirSync(paths.attachments, { recursive: true });
    const foreign = `${'e'.repeat(64)}.${place}.${process.ppid}.0`;
    writeFileSync(inFolder(foreign), 'x');
    await store.reset({ purge: true });
    expect(names()).toEqual([foreign]);
    expect(await store.attachments.get(sha256)).toBeNull();
    await store.close();
  });

  it('stays pending when a message without it is written', async () => {
    const store = await openIn(paths.folder);
    const sha256 = await store.attachments.add(BYTES);
    const other = await store.attachments.add(Buffer.from('other'));
    await store.note({ ...says('see'), content: [image(sha256)] });
    expect(names()).toEqual([sha256, other, `${other}.${processName()}`].sort());
    await store.note({ ...says('see'), content: [image(other)] });
    expect(names()).toEqual([sha256, other].sort());
    await store.close();
  });
});
