import { describe, expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../../lib/chat/entry.js';
import type { ChatEvent } from '../../../lib/chat/event.js';
import type { Usage } from '../../../lib/chat/message.js';
import type { CompactionInput } from '../../../lib/compaction/strategy.js';
import { CompactionAhead, type UpcomingCompaction } from '../../../lib/session/context/compaction-ahead.js';
import { EFFECTS } from '../../../lib/tools/tool-specs.js';
import { inputFor, memoryCache, SETTINGS } from '../../support/compaction.js';
import { Log } from '../../support/log.js';
import { prose } from '../../support/prose.js';
import { scripted } from '../../support/summarisers.js';

const signal = new AbortController().signal;
const USAGE: Usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, context_tokens: 15 };
const settings = { ...SETTINGS, context_window: 10_000 };
const pause = (milliseconds = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A conversation that is nearly due. */
function talk(): Log {
  const log = new Log();
  for (let turn = 0; turn < 20; turn += 1) log.exchange(`question ${turn}`, prose(1300, turn));
  return log;
}

const due = (log: Log, more: Partial<CompactionInput> = {}): CompactionInput =>
  inputFor(log, { settings, reason: 'auto', entries: [...log.entries], ...more });

/** What writes ahead for a log, by a model that waits for `go`. */
function ahead(log: Log, { name = 'talk', fails = false }: { name?: string; fails?: boolean } = {}) {
  let release = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = scripted(async (_, count) => {
    await waiting;
    if (fails) throw new Error('no');
    return { text: `They talked (${count}).`, usage: USAGE };
  });
  const found: UpcomingCompaction = {
    name,
    input: due(log),
    deps: { models: [model], cache: memoryCache(), effects: EFFECTS },
  };
  let next: UpcomingCompaction | null = found;
  return {
    one: new CompactionAhead(async () => next),
    model,
    go: release,
    /** What is found from now on. */
    find(more: UpcomingCompaction | null) {
      next = more;
    },
    found,
  };
}

/** Everything that taking it yields, and what it comes to. */
async function taken(one: CompactionAhead, name: string | null, input: CompactionInput, abort = signal) {
  const events: ChatEvent[] = [];
  const running = one.take(name, input, abort);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { events, block: value as NewCompressBlock | null };
    events.push(value);
  }
}

describe('a compaction that is written ahead', () => {
  it('exists when it is due, keeps later messages, and calls no model again', async () => {
    const log = talk();
    const { one, model, go } = ahead(log);
    go();
    await one.begin();
    await one.begin();
    await pause(50);
    log.exchange('one more', 'yes');
    const { events, block } = await taken(one, 'talk', due(log));
    expect(block).toMatchObject({
      type: 'compress',
      strategy: 'summary',
      content: expect.stringContaining('They talked'),
    });
    expect(block?.messages_kept).toBeGreaterThan(2);
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(model.asked.length);
    expect(model.asked.length).toBeGreaterThan(0);
    expect(await taken(one, 'talk', due(log))).toEqual({ events: [], block: null });
  });

  it('is waited for while it is being written, with its progress from then on', async () => {
    const log = talk();
    const { one, go } = ahead(log);
    await one.begin();
    const taking = taken(one, 'talk', due(log));
    await pause();
    go();
    const { events, block } = await taking;
    expect(block).not.toBeNull();
    expect(events.some(({ type }) => type === 'compact-progress')).toBe(true);
  });

  it('is still written if the waiting is interrupted, and used later', async () => {
    const log = talk();
    const { one, go } = ahead(log);
    await one.begin();
    const stop = new AbortController();
    const taking = taken(one, 'talk', due(log), stop.signal);
    await pause();
    stop.abort(new Error('stopped'));
    await expect(taking).rejects.toThrow('stopped');
    await expect(taken(one, 'talk', due(log), stop.signal)).rejects.toThrow('stopped');
    go();
    await pause(50);
    expect((await taken(one, 'talk', due(log))).block).not.toBeNull();
  });

  it.each<readonly [string, (log: Log) => void, string, Partial<CompactionInput>]>([
    ['another conversation', () => undefined, 'other', {}],
    ['a compaction by hand', () => undefined, 'talk', { reason: 'manual' }],
    ['a conversation in which a turn was undone', (log) => log.undo(1), 'talk', {}],
    ['a conversation that was read anew', (log) => void log.entries.splice(0, Infinity, ...log.reloaded()), 'talk', {}],
  ])('is discarded for %s, and its usage is reported once', async (_, change, name, more) => {
    const log = talk();
    const { one, go, model } = ahead(log);
    go();
    await one.begin();
    await pause(50);
    change(log);
    const { events, block } = await taken(one, name, due(log, more));
    expect(block).toBeNull();
    expect(events).toEqual(model.asked.map(() => expect.objectContaining({ type: 'usage', purpose: 'summary' })));
    expect(events.length).toBeGreaterThan(0);
    expect(await taken(one, 'talk', due(log))).toEqual({ events: [], block: null });
  });

  it('is written again for another conversation, and the request for the first one ends', async () => {
    const log = talk();
    const { one, find, found, go } = ahead(log);
    let aborted = false;
    const slow = {
      ...scripted(() => ''),
      write: async (_prompt: unknown, _progress: unknown, stop: AbortSignal): Promise<never> =>
        await new Promise((_, reject) => {
          stop.addEventListener('abort', () => {
            aborted = true;
            reject(stop.reason);
          });
        }),
    };
    find({ ...found, deps: { ...found.deps, models: [slow] } });
    await one.begin();
    await pause(30);
    find({ ...found, name: 'other' });
    go();
    await one.begin();
    await pause(50);
    expect(aborted).toBe(true);
    expect((await taken(one, 'other', due(log))).block).not.toBeNull();
  });

  it('that fails is silently dropped', async () => {
    const log = talk();
    const { one, go } = ahead(log, { fails: true });
    go();
    await one.begin();
    await pause(50);
    expect(await taken(one, 'talk', due(log))).toEqual({ events: [], block: null });
  });

  it('is not written while none will be due soon, or if that is unknown', async () => {
    const log = talk();
    const { one, find, model } = ahead(log);
    find(null);
    await one.begin();
    one.drop();
    const failing = new CompactionAhead(async () => {
      throw new Error('no');
    });
    await failing.begin();
    expect(await taken(failing, 'talk', due(log))).toEqual({ events: [], block: null });
    expect([await taken(one, 'talk', due(log)), model.asked.length]).toEqual([{ events: [], block: null }, 0]);
  });
});
