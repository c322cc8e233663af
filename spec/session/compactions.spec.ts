import { afterEach, describe, expect, it } from '@jest/globals';
import { type CompressBlock, isCompressBlock } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { compactionsOf, takenBack } from '../../lib/session/compactions.js';
import { SETTINGS } from '../support/compaction.js';
import { prose } from '../support/prose.js';
import { answer, drain, type Stage, stage } from '../support/session.js';

const signal = new AbortController().signal;
const typed = (text: string) => ({ text, texts: [], attachments: [] });

let set: Stage | null = null;
afterEach(async () => {
  await set?.close();
  set = null;
});

/** A session with so many turns, of that length each. */
async function talk(turns: number, characters = 20, window = 100_000): Promise<Stage> {
  const one = await stage([answer('yes')], {}, window);
  set = one;
  await say(one, turns, characters);
  return one;
}

async function say({ session }: Stage, turns: number, characters = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await drain(session.send(typed(prose(characters, turn)), signal));
}

const compact = async ({ session }: Stage, strategy = 'truncate') =>
  await drain(session.compact({ focus: null, strategy }, signal));
const ids = ({ history }: Stage): readonly number[] => history.view(null).messages.map(({ id }) => id);

/** A block with this id, as far as what takes it back looks. */
const block = (id: number, restores?: number): CompressBlock => ({
  ...{ type: 'compress', id, at: '', content: '', strategy: 's', source: 'model', first_kept: null },
  ...{ messages_compacted: 0, messages_kept: 0, tokens_before: asTokens(0), tokens_after: asTokens(0) },
  ...(restores !== undefined && { restores }),
});

describe('the compactions of a conversation', () => {
  it('are listed, oldest first, including those before the loaded part', async () => {
    const one = await talk(10);
    expect(await compactionsOf(one.history)).toEqual([]);
    await compact(one);
    await say(one, 8);
    await compact(one);
    const blocks = await compactionsOf(one.history);
    expect(blocks).toHaveLength(2);
    expect(blocks.map(({ id }) => id)).toEqual([...blocks.map(({ id }) => id)].sort((a, b) => a - b));
  });

  it('are no longer in effect once a later one takes them back', () => {
    const taken = (...blocks: readonly CompressBlock[]): readonly number[] => [...takenBack(blocks)];
    expect(taken(block(5), block(9))).toEqual([]);
    expect(taken(block(5), block(9), block(12, 5))).toEqual([9]);
    expect(taken(block(5), block(9), block(12, 5), block(13, 0))).toEqual([9, 5, 12]);
    expect(taken(block(5), block(9, 0), block(12))).toEqual([5]);
    expect(taken(block(12, 0), block(15))).toEqual([]);
  });

  it('are taken back one after another, and later messages stay', async () => {
    const one = await talk(10);
    await compact(one);
    const first = ids(one);
    await say(one, 8);
    const before = ids(one);
    await compact(one);
    await say(one, 1);
    const restored = await one.session.uncompact(signal);
    expect(ids(one).slice(0, -2)).toEqual(before);
    expect(restored.messages).toBe(ids(one).length);
    expect(restored.tokens).toBeGreaterThan(0);
    expect(ids(one)[0]).toBe(first[0]);
    await one.session.uncompact(signal);
    expect(ids(one)[0]).toBe(1);
    await expect(one.session.uncompact(signal)).rejects.toMatchObject({
      code: 'usage',
      message: 'There is no compaction to undo.',
    });
    const last = one.history.entries.findLast(isCompressBlock);
    expect(last).toMatchObject({ strategy: 'none', source: 'none', content: '', restores: 0, first_kept: 1 });
    expect(last?.messages_kept).toBe(ids(one).length);
    expect(last?.tokens_after).toBeGreaterThan(last?.tokens_before ?? 0);
  });

  it('cannot be taken back if there are none', async () => {
    const one = await talk(1);
    await expect(one.session.uncompact(signal)).rejects.toMatchObject({
      message: 'There is no compaction to undo.',
    });
  });

  it('cannot be taken back if what they replaced does not fit, with the sizes', async () => {
    const one = await talk(20, 1000, 6000);
    await compact(one);
    const before = ids(one);
    const much = await talkOn(one, 6000);
    expect(much).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /^Without the last compaction a request would have (\d+|far more) tokens.*, and one is due at \d+\.$/,
      ),
      hint: expect.stringContaining('larger window'),
    });
    expect(ids(one).length).toBeGreaterThanOrEqual(before.length);
    expect((await compactionsOf(one.history)).every(({ restores }) => restores === undefined)).toBe(true);
  });

  it('cannot be taken back if what they replaced is many times what fits', async () => {
    const one = await talk(40, 1000);
    await compact(one);
    one.session.target.memory.learn({ context_window: 2000 });
    await expect(one.session.uncompact(signal)).rejects.toMatchObject({
      code: 'usage',
      message: 'Without the last compaction a request would have far more tokens than fit, and one is due at 1600.',
    });
  });

  it('cannot be taken back if the originals were removed', async () => {
    const one = await stage([answer('yes')], {
      settings: { compaction: { ...SETTINGS, strategy: 'truncate', archive: 'discard' } },
    });
    set = one;
    await say(one, 12);
    await compact(one);
    await expect(one.session.uncompact(signal)).rejects.toMatchObject({
      code: 'usage',
      message: 'The messages that the last compaction replaced are gone.',
    });
  });

  it('keep pinned messages when they are taken back', async () => {
    const one = await talk(10);
    await one.session.pins.pin({ id: 1 });
    await compact(one);
    await one.session.uncompact(signal);
    expect(one.session.pins.list().map(({ id }) => id)).toEqual([1]);
    await compact(one);
    expect(textOf(one.history.view(null).messages[0]?.content ?? [])).toBe(prose(20, 0));
    expect(ids(one)[0]).toBe(1);
  });
});

/** Says more until the last compaction no longer fits; why it cannot be taken back. */
async function talkOn(one: Stage, characters: number): Promise<unknown> {
  await say(one, 2, characters);
  return await one.session.uncompact(signal).catch((thrown: unknown) => thrown);
}
