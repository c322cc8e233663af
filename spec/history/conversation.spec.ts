import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import type { ChatEvent, CompactionReport } from '../../lib/chat/event.js';
import { asTokens } from '../../lib/chat/request.js';
import { HiError } from '../../lib/errors.js';
import { linkOrCopy } from '../../lib/history/base/history-paths.js';
import { asHistoryError, Notices } from '../../lib/history/base/notices.js';
import type { WriteBlock } from '../../lib/history/conversation.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { answers, archived, exchange, fileIn, openIn, printed, quickFolder, says } from '../support/history.js';
import { texts } from '../support/history-files.js';
import { prose } from '../support/prose.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const BLOCK: NewCompressBlock = {
  ...{ type: 'compress', content: 'They talked.', strategy: 'summary', source: 'model', first_kept: 3 },
  ...{ messages_compacted: 2, messages_kept: 2, tokens_before: asTokens(9), tokens_after: asTokens(5) },
  state: { cut: { turn: 3, id: 3 } },
};
const REPORT = {
  ...{ strategy: 'summary', source: 'model', messages_compacted: 2, messages_kept: 2 },
  ...{ tokens_before: 9, tokens_after: 5 },
};

/** What a compaction says while another process does something. */
async function compacted(
  store: HistoryStore,
  meanwhile: () => Promise<unknown>,
  { block = BLOCK, archive = 'keep' }: { block?: NewCompressBlock | null; archive?: 'keep' | 'discard' } = {},
): Promise<{ readonly events: readonly ChatEvent[]; readonly report: CompactionReport | null }> {
  const events: ChatEvent[] = [];
  const running = store.compact(
    null,
    async function* () {
      yield* [];
      await meanwhile();
      return block;
    },
    archive,
  );
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { events, report: value };
    events.push(value);
  }
}

const nothing = async (): Promise<void> => {};

describe('what is said off the record', () => {
  it('is only in the view, and forgotten when the user is back on the record', async () => {
    const store = await openIn(folder);
    const said = await exchange(store, 'one', 'two');
    const bytes = readFileSync(fileIn(folder));
    expect([store.keeping, await store.goOnRecord()]).toEqual(['kept', 0]);
    await store.goOffRecord();
    expect([store.keeping, store.isKept]).toEqual(['off-record', false]);
    const more = await exchange(store, 'between us', 'of course');
    const sha256 = await store.attachments.add(Buffer.from('secret'));
    await store.goOffRecord();
    expect(store.view(null).messages).toEqual([...said, ...more]);
    expect([store.length, (await archived(store)).length]).toEqual([4, 4]);
    expect((await store.attachments.get(sha256))?.toString()).toBe('secret');
    expect([readFileSync(fileIn(folder)).equals(bytes), readdirSync(folder)]).toEqual([true, ['history.json.zst']]);
    expect(await store.goOnRecord()).toBe(2);
    expect([store.keeping, store.isKept, store.length]).toEqual(['kept', true, 2]);
    expect(store.view(null).messages).toEqual(said);
    expect(await store.attachments.get(sha256)).toBeNull();
    expect((await store.begin(says('on'))).id).toBe(3);
    await store.close();
  });

  it('is forgotten before messages of other processes appear', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    await exchange(store, 'one', 'two');
    await store.goOffRecord();
    await exchange(other, 'three', 'four');
    await store.refresh();
    expect(texts(store.entries)).toEqual(['one', 'two']);
    expect(await store.goOnRecord()).toBe(0);
    expect(texts(store.entries)).toEqual(['one', 'two', 'three', 'four']);
    for (const one of [store, other]) await one.close();
  });
});

describe('a conversation', () => {
  it('has a unique id on disk, which a reset changes and a rewrite does not', async () => {
    const store = await openIn(folder);
    expect([store.name, store.length]).toEqual([null, 0]);
    await exchange(store, 'one', 'two');
    const { name } = store;
    expect(name).toMatch(/^[0-9a-z]+-[0-9a-z]+$/);
    expect((await openIn(folder)).name).toBe(name);
    await store.forget({ kind: 'text', text: 'one' }, () => {});
    expect([store.name, store.length]).toEqual([name, 1]);
    await store.reset({ purge: false });
    expect(store.name).toBeNull();
    await exchange(store, 'one', 'two');
    expect(store.name).not.toBe(name);
    await store.close();
  });

  it('is not touched while exclusive work runs, and checked again after it', async () => {
    const store = await openIn(join(folder, 'new'));
    let locks: readonly string[] = [];
    await store.exclusively(() => {
      locks = readdirSync(join(folder, 'new'));
    });
    expect(locks).toEqual([expect.stringMatching(/^history\.lock\./)]);
    const other = await openIn(join(folder, 'new'));
    const said = await exchange(other, 'one', 'two');
    await store.exclusively(() => {});
    expect(store.entries).toEqual(said);
    for (const one of [store, other]) await one.close();
  });

  it('moves the running turn along as soon as it is followed', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    await exchange(store, 'before', 'yes');
    const { id } = await store.begin(says('running'));
    const { length } = await archived(store);
    await store.follow(id);
    expect(await archived(store)).toHaveLength(length);
    await other.reset({ purge: false });
    await exchange(other, 'anew', 'yes');
    await store.follow(id);
    expect(texts(store.view(id).messages)).toEqual(['anew', 'yes', 'running']);
    await store.follow(id);
    const [answered] = await store.append(id, [answers('done')]);
    expect(answered).toMatchObject({ id: 4, turn: 3 });
    await store.follow(id);
    expect(texts(await archived(other))).toEqual(['anew', 'yes', 'running', 'done']);
    expect(readdirSync(folder).filter((name) => name.includes('turn'))).toEqual([]);
    for (const one of [store, other]) await one.close();
  });

  it('sees a turn marked as running from before its first message until it ends or moves', async () => {
    const store = await openIn(folder);
    const marks = (): readonly string[] =>
      readdirSync(folder).flatMap((name) => /^history\.turn\.(\d+)\./.exec(name)?.[1] ?? []);
    await exchange(store, 'one', 'two');
    const { id } = await store.begin(says('running'));
    expect(marks()).toEqual(['3']);
    await store.append(id, [answers('wait', 'tool_calls')]);
    expect(marks()).toEqual(['3']);
    const other = await openIn(folder);
    await other.reset({ purge: false });
    await store.append(id, [answers('wait', 'tool_calls')]);
    expect(marks()).toEqual(['1']);
    await store.close();
    expect(marks()).toEqual([]);
    await other.close();
  });

  it('leaves no mark of a turn that could not be written', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    rmSync(fileIn(folder));
    mkdirSync(fileIn(folder));
    await expect(store.begin(says('x'))).rejects.toMatchObject({
      code: 'history',
      message: `'${fileIn(folder)}' is a folder, not a file.`,
    });
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('counts what it seals', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    expect(store.sealed).toBe(0);
    for (let turn = 0; turn < 12; turn += 1) await exchange(store, `question ${turn}`, prose(100_000, turn));
    const reading = await store.reading();
    expect(store.sealed).toBe(reading.pieces.length);
    expect(store.sealed).toBeGreaterThan(2);
    reading.close();
    await store.close();
  });

  it("reports a crashed turn by the beginning of the user's message, on one line", async () => {
    for (const [question, shown] of [
      ['a\n\n  b', 'a b'],
      ['x'.repeat(60), 'x'.repeat(60)],
      ['y'.repeat(61), `${'y'.repeat(59)}…`],
    ] as const) {
      const store = await openIn(folder);
      await store.begin(says(question));
      await store.close();
      const later = await openIn(folder);
      expect(later.takeNotices()).toEqual([
        `The turn “${shown}” was cut short before its answer was complete. It is kept but not sent; /retry asks again.`,
      ]);
      expect(later.crashedTurn).not.toBeNull();
      await later.reset({ purge: false });
      expect(later.crashedTurn).toBeNull();
      await later.close();
    }
  });

  it('has no crashed turn once another turn began or the conversation changed', async () => {
    const crash = async (): Promise<HistoryStore> => {
      const store = await openIn(folder);
      await store.begin(says('cut short'));
      await store.close();
      return await openIn(folder);
    };
    const begun = await crash();
    await begun.begin(says('next'));
    expect(begun.crashedTurn).toBeNull();
    await begun.close();
    const forgotten = await crash();
    await forgotten.forget({ kind: 'text', text: 'nobody said this' }, () => {});
    expect(forgotten.crashedTurn).toBeNull();
    await forgotten.reset({ purge: false });
    await forgotten.close();
    const undone = await crash();
    expect(undone.crashedTurn).toBe(1);
    await undone.undoReset();
    expect(undone.crashedTurn).toBeNull();
    await undone.close();
  });
});

describe('a compaction', () => {
  it('of nothing reports and stores nothing', async () => {
    const store = await openIn(folder);
    const said = await exchange(store, 'one', 'two');
    expect(await compacted(store, nothing, { block: null })).toEqual({ events: [], report: null });
    expect(await archived(store)).toEqual(said);
    await store.close();
  });

  it('is passed the entries, the id of the running turn, and the number of messages that are not loaded', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    const { id } = await store.begin(says('running'));
    await other.reset({ purge: false });
    await exchange(other, 'anew', 'yes');
    await store.follow(id);
    const given: unknown[] = [];
    const write: WriteBlock = async function* (entries, running, unloaded) {
      yield* [];
      given.push(texts(entries), running, unloaded);
      return null;
    };
    for await (const _ of store.compact(id, write, 'keep'));
    for await (const _ of store.compact(null, write, 'keep'));
    const all = ['anew', 'yes', 'running'];
    expect(given).toEqual([all, 3, 0, all, null, 0]);
    for (const one of [store, other]) await one.close();
  });

  it('is dropped if another process cleared, compacted or forgot meanwhile, with a notice', async () => {
    const meanwhile: Readonly<Record<string, readonly [(other: HistoryStore) => Promise<unknown>, unknown]>> = {
      cleared: [async (other) => await other.reset({ purge: false }), null],
      compacted: [async (other) => await compacted(other, nothing), REPORT],
      'forgot a part of': [async (other) => await other.forget({ kind: 'text', text: 'one' }, () => {}), null],
    };
    for (const [what, [act, report]] of Object.entries(meanwhile)) {
      const store = await openIn(folder);
      const other = await openIn(folder);
      await exchange(store, 'one', 'two');
      await exchange(store, 'three', 'four');
      const text = `Another hi ${what} the conversation meanwhile.`;
      const dropped = await compacted(store, async () => await act(other), { block: { ...BLOCK, content: 'dropped' } });
      expect(dropped).toEqual({ events: [{ type: 'notice', level: 'info', text }], report });
      expect(JSON.stringify(await archived(store))).not.toContain('dropped');
      await store.reset({ purge: true });
      for (const one of [store, other]) await one.close();
    }
  });

  it('is kept if another process only added messages meanwhile', async () => {
    const store = await openIn(folder);
    const other = await openIn(folder);
    await exchange(store, 'one', 'two');
    await exchange(store, 'three', 'four');
    const { events, report } = await compacted(store, async () => await exchange(other, 'five', 'six'));
    expect([events, report]).toEqual([[{ type: 'compact', ...REPORT }], REPORT]);
    expect(texts(store.view(null).messages)).toEqual(['three', 'four', 'five', 'six']);
    for (const one of [store, other]) await one.close();
  });

  it('that discards keeps what is still sent, and the blocks', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    await exchange(store, 'three', 'four');
    const { report } = await compacted(store, nothing, { archive: 'discard' });
    expect(report).toEqual(REPORT);
    expect((await archived(store)).map(({ id }) => id)).toEqual([3, 4, 5]);
    await exchange(store, 'five', 'six');
    const again = { ...BLOCK, first_kept: 6, state: { cut: { turn: 6, id: 6 } } };
    await compacted(store, nothing, { block: again, archive: 'discard' });
    expect((await archived(store)).map(({ id }) => id)).toEqual([5, 6, 7, 8]);
    await store.close();
  });

  it('without a summary keeps every message', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    await exchange(store, 'three', 'four');
    await compacted(store, nothing, { block: { ...BLOCK, source: 'fallback' }, archive: 'discard' });
    expect((await archived(store)).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    await store.close();
  });

  it('whose originals cannot be removed still counts, with a warning', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    await exchange(store, 'three', 'four');
    mkdirSync(join(folder, 'attachments'));
    writeFileSync(join(folder, 'attachments', 'a'.repeat(64)), 'an image');
    mkdirSync(join(folder, 'history.reset.json.zst'));
    const { events, report } = await compacted(store, nothing, { archive: 'discard' });
    const reason = `'${join(folder, 'history.reset.json.zst')}' is a folder, not a file.`;
    const text = `The compacted messages could not be removed from the archive. ${reason}`;
    expect(events).toEqual([
      { type: 'notice', level: 'warning', text },
      { type: 'compact', ...REPORT },
    ]);
    expect(report).toEqual(REPORT);
    expect(texts(store.view(null).messages)).toEqual(['three', 'four']);
    expect(printed(folder)).toContain('They talked.');
    await store.close();
  });
});

describe('what the history reports', () => {
  it('contains every sentence once', () => {
    const notices = new Notices();
    for (const text of ['a', 'b', 'a']) notices.add(text);
    expect(notices.take()).toEqual(['a', 'b']);
    notices.add('a');
    expect(notices.take()).toEqual([]);
  });

  const system = (code: string, more: object = {}): Error =>
    Object.assign(new Error(code), { code, syscall: 'open', ...more });
  it.each([
    ['ENOSPC', "The disk is full: the history 'p' could not be written.", /Free some space/],
    ['EDQUOT', "The disk is full: the history 'p' could not be written.", /Free some space/],
    ['EFBIG', "The history 'p' cannot grow: the file size limit is reached.", /ulimit -f/],
    ['EROFS', "The history 'p' is on a read-only file system.", /HI_DATA_DIR.*--ephemeral/],
    ['EACCES', "Permission denied for the history 'p'.", /ls -ld/],
    ['EPERM', "Permission denied for the history 'p'.", /ls -ld/],
    ['ENOTDIR', "Part of the path of the history 'p' is a file, not a folder.", /Move that file away/],
    ['EIO', "The history 'p' cannot be used (EIO).", /Check the folder and its disk/],
    ['EISDIR', "The history 'p' cannot be used (EISDIR).", /Check the folder and its disk/],
  ])('explains the system error %s and what to do', (code, message, hint) => {
    const cause = system(code);
    expect(asHistoryError(cause, 'p')).toMatchObject({
      code: 'history',
      message,
      hint: expect.stringMatching(hint),
      cause,
    });
  });

  it('names what is in place of a file', () => {
    for (const [code, what] of [
      ['EISDIR', 'folder'],
      ['EFTYPE', 'pipe or a device'],
    ] as const)
      expect(asHistoryError(system(code, { path: '/there' }), 'p')).toMatchObject({
        message: `'/there' is a ${what}, not a file.`,
        hint: 'Move it away and start again.',
      });
  });

  it('passes on any other error', () => {
    for (const thrown of [new HiError('usage', 'x'), new TypeError('bug'), 'text', null])
      expect(asHistoryError(thrown, 'p')).toBe(thrown);
  });
});

describe('a second name for a file', () => {
  it('is a copy if links are not supported', () => {
    writeFileSync(join(folder, 'one'), 'text');
    linkOrCopy(join(folder, 'one'), join(folder, 'two'));
    writeFileSync(join(folder, 'one'), 'changed');
    expect(readFileSync(join(folder, 'two'), 'utf8')).toBe('changed');
    // There is a file already, so no link can be made.
    writeFileSync(join(folder, 'three'), 'old');
    linkOrCopy(join(folder, 'one'), join(folder, 'three'));
    writeFileSync(join(folder, 'one'), 'later');
    expect(readFileSync(join(folder, 'three'), 'utf8')).toBe('changed');
  });
});
