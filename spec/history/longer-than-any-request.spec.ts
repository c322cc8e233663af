import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { CompactionReport } from '../../lib/chat/event.js';
import { compactHistory } from '../../lib/session/context/compaction-ahead.js';
import { SETTINGS } from '../support/compaction.js';
import { dataFolder, exchange, fileIn, openIn, zstd } from '../support/history.js';
import { Log } from '../support/log.js';

describe('a history that is longer than any request, without a block', () => {
  it('loads only its newest part, whatever the layout of its file, and counts all messages', async () => {
    const folder = dataFolder();
    const log = new Log();
    for (let turn = 0; turn < 50_100; turn += 1) log.exchange(`question ${turn}`, 'answer');
    writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(log.entries))));
    const foreign = await openIn(folder);
    expect(foreign.entries).toHaveLength(100_000);
    expect(foreign.unloaded).toBe(200);
    expect(foreign.view(null)).toBe(foreign.view(null));
    await exchange(foreign, 'one more question', 'answer');

    const own = await openIn(folder);
    expect(own.totals.messages).toBe(100_202);
    expect(own.entries).toHaveLength(100_000);
    expect(own.unloaded).toBe(202);
    const settings = { ...SETTINGS, strategy: 'truncate' };
    const input = { running: null, fixed_tokens: 0, settings, reason: 'manual', focus: null } as const;
    const cache = { get: async () => null, put: async () => {} };
    let report: CompactionReport | null = null;
    const compaction = compactHistory(own, input, { models: [], cache, effects: {} }, new AbortController().signal);
    for await (const event of compaction) if (event.type === 'compact') report = event;
    const { messages_compacted = 0, messages_kept = 0 } = { ...report };
    expect(messages_compacted + messages_kept).toBe(100_202);
    expect(messages_compacted).toBeGreaterThan(50_202);
    expect(own.unloaded).toBe(0);
    expect((await openIn(folder)).view(null)).toEqual(own.view(null));
    for await (const entry of own.archive()) {
      expect(entry.id).toBe(1);
      break;
    }
  });
});
