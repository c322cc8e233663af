import { describe, expect, it } from '@jest/globals';
import type { CompressBlock, Entry } from '../../lib/chat/entry.js';
import { inReadingOrder } from '../../lib/chat/entry-list.js';
import type { Message } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import fc from '../support/properties.js';

const at = '2026-11-22T10:00:00.000Z';

const message = (id: number): Message => ({ id, turn: id, at, cwd: '/', role: 'user', content: [] });

const block = (id: number, first_kept: number | null): CompressBlock => ({
  id,
  at,
  type: 'compress',
  content: 'They talked.',
  strategy: 'summary',
  source: 'model',
  first_kept,
  messages_compacted: 1,
  messages_kept: 1,
  tokens_before: asTokens(2),
  tokens_after: asTokens(1),
});

/** What a log knows after it was opened: its entries from an index on. */
const knowing = (entries: readonly Entry[], from: number) => ({
  totals: { compactions: entries.filter((entry) => 'type' in entry).length },
  entries: entries.slice(from),
});

async function idsOf(entries: AsyncIterable<Entry>): Promise<number[]> {
  const ids = [];
  for await (const { id } of entries) ids.push(id);
  return ids;
}

describe('the reading order', () => {
  const log: readonly Entry[] = [
    ...[1, 2, 3, 4].map(message),
    block(5, 3),
    message(6),
    message(7),
    block(8, 7),
    message(9),
  ];

  it('puts each compaction before the first message it kept', async () => {
    expect(await idsOf(inReadingOrder(log, knowing(log, log.length)))).toEqual([1, 2, 5, 3, 4, 6, 8, 7, 9]);
    expect(await idsOf(inReadingOrder(log, knowing(log, 6)))).toEqual([1, 2, 5, 3, 4, 6, 8, 7, 9]);
  });

  it('puts a compaction that kept nothing where it was written, and one whose messages are gone before the next message that exists', async () => {
    const log = [message(1), block(2, null), message(3), block(20, 10), message(21), block(22, null)];
    expect(await idsOf(inReadingOrder(log, knowing(log, 3)))).toEqual([1, 2, 3, 20, 21, 22]);
  });

  it('streams: it holds no more than one compaction may have kept', async () => {
    let read = 0;
    function* counted(): Generator<Entry> {
      for (const entry of log) {
        read += 1;
        yield entry;
      }
    }
    const ordered = inReadingOrder(counted(), knowing(log, 5));
    await ordered.next();
    expect(read).toBe(5);
    const last = inReadingOrder(counted(), { totals: { compactions: 1 }, entries: [block(8, 7)] });
    read = 0;
    await last.next();
    expect(read).toBe(1);
  });

  it('neither loses nor repeats anything, whatever is known before', async () => {
    const shapes = fc.array(fc.option(fc.nat(6), { nil: null }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(shapes, fc.nat(45), async (shape, from) => {
        const log = shape.map((kept, index) =>
          kept === null ? message(index + 1) : block(index + 1, kept === 0 ? null : Math.max(1, index + 1 - kept)),
        );
        const read = await idsOf(inReadingOrder(log, knowing(log, from)));
        expect([...read].sort((one, other) => one - other)).toEqual(log.map(({ id }) => id));
      }),
    );
  });
});
