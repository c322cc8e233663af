import { describe, expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { collectArtifacts, describeArtifacts } from '../../lib/compaction/compress-block.js';
import { NO_ARTIFACTS } from '../../lib/view/block-state.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';

const TRUNCATE = { ...SETTINGS, strategy: 'truncate' };
const at = (day: number) => ({ at: `2026-01-0${day}T00:00:00.000Z` });
const said = (text: string) => [{ type: 'text', text } as const];

/** The block of a pass of this log, which is appended to it. */
async function compacted(log: Log, running: number | null = null): Promise<NewCompressBlock> {
  const { block } = await pass(inputFor(log, { settings: TRUNCATE, running }));
  if (block === null) throw new Error('There was nothing to compact.');
  log.block(block);
  return block;
}

function exchanges(count: number, log = new Log()): Log {
  for (let turn = 0; turn < count; turn += 1) log.exchange('question', 'answer');
  return log;
}

describe('the block of a pass', () => {
  it('records where the kept messages begin, and how many there are', async () => {
    expect(await compacted(exchanges(5))).toMatchObject({
      type: 'compress',
      strategy: 'truncate',
      source: 'none',
      content: '',
      first_kept: 6,
      messages_compacted: 5,
      messages_kept: 5,
      state: { cut: { turn: 5, id: 6 }, also: [], open: [], pruned: [], size: 9, prose: 0 },
    });
  });

  it('names the newest user message if it is before the cut', async () => {
    const log = new Log();
    const { id } = log.user('do it all');
    log.tools('one');
    log.tools('two');
    log.answer('done');
    expect(await compacted(log)).toMatchObject({ messages_kept: 4, state: { also: [id], cut: { turn: id, id: 4 } } });
  });

  it('names no message of a later turn, whatever its id', async () => {
    const log = new Log();
    const first = log.user('first');
    log.exchange('second', 'two');
    log.message('assistant', said('one'), { turn: first.id, stop_reason: 'end' });
    const { block } = await pass(inputFor(log, { settings: { ...TRUNCATE, keep_ratio: 0.75 } }));
    expect(block).toMatchObject({ first_kept: 4, messages_kept: 3, state: { cut: { turn: 1, id: 4 }, also: [] } });
  });

  it('names the open turns of other processes, up to a day after their last sign of life', async () => {
    const log = new Log();
    const ask = (text: string, day: number) =>
      log.message('user', said(text), { turn: (log.entries.at(-1)?.id ?? 0) + 1, ...at(day) });
    ask('crashed', 1);
    const open = ask('elsewhere', 2);
    for (let count = 0; count < 5; count += 1) {
      const { turn } = ask('question', 3);
      log.message('assistant', said('answer'), { turn, stop_reason: 'end', ...at(3) });
    }
    expect(await compacted(log)).toMatchObject({ state: { open: [open.id] } });
  });

  it('never moves the cut back', async () => {
    const log = exchanges(5);
    const first = await compacted(log);
    log.message('assistant', said('late'), { turn: 1, stop_reason: 'end' });
    const second = await compacted(exchanges(1, log));
    expect(first).toMatchObject({ state: { cut: { turn: 5, id: 6 } } });
    expect(second.first_kept).toBeGreaterThan(6);
  });
});

describe('what tools did, in a small window', () => {
  const before = { ...NO_ARTIFACTS, read: ['a.ts', 'b.ts', 'c.ts'], written: ['d.ts', 'e.ts'], commands: 2 };

  it('gets a third of the room for each kind, the newest first, each name once', () => {
    expect(collectArtifacts(before, [], {}, 36)).toEqual({ ...before, read: ['b.ts', 'c.ts'] });
    expect(collectArtifacts(before, [], {}, 35)).toEqual({ ...before, read: ['c.ts'], written: ['e.ts'] });
    const twice = { ...before, read: ['a.ts', 'b.ts', 'a.ts'] };
    expect(collectArtifacts(twice, [], {}, 1000).read).toEqual(['b.ts', 'a.ts']);
  });

  it('includes the images', () => {
    const log = new Log();
    const image = { type: 'image', mime: 'image/png', sha256: 'ab'.repeat(32), bytes: 9, name: 'cat.png' } as const;
    const message = log.user('', { content: [image, { ...image, type: 'document', mime: 'application/pdf' }] });
    const { images } = collectArtifacts(NO_ARTIFACTS, [message], {}, 1000);
    expect(images).toEqual(['cat.png (image/png)', 'cat.png (application/pdf)']);
    expect(describeArtifacts({ ...before, images })).toBe(
      'Files written: d.ts, e.ts\nFiles read: a.ts, b.ts, c.ts\nCommands run: 2\nImages seen, no longer in view: cat.png (image/png), cat.png (application/pdf)',
    );
  });
});
