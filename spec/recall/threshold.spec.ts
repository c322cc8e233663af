import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { HistoryStore } from '../../lib/history/store.js';
import {
  type Calibration,
  readCalibration,
  STEPS,
  THRESHOLD_FILE,
  UNCALIBRATED,
  writeCalibration,
} from '../../lib/recall/recall-unasked.js';
import { exchange, openIn, quickFolder } from '../support/history.js';
import { prose } from '../support/prose.js';
import { recallIn } from '../support/recall.js';

const sums = STEPS.map((_, step) => 100 - step);
const CALIBRATION: Calibration = {
  thresholds: { whole: 2.5, newest: 1.2 },
  sample: { documents: 4000, count: 200, whole: sums, newest: sums },
};

describe('the threshold of automatic recall', () => {
  it('is kept, but not for text that is split into other words, and not if it was damaged', () => {
    const folder = quickFolder();
    expect(readCalibration(folder)).toBeNull();
    writeCalibration(folder, CALIBRATION);
    expect(readCalibration(folder)).toEqual(CALIBRATION);

    const path = join(folder, THRESHOLD_FILE);
    const stored = JSON.parse(readFileSync(path, 'utf8'));
    const { thresholds, sample } = stored;
    const others = [
      ...[7, null, { ...stored, version: stored.version - 1 }, { version: stored.version, certainty: 2.5 }],
      ...[
        { ...stored, thresholds: { whole: 2.5 } },
        { ...stored, thresholds: { ...thresholds, newest: 0.2 } },
      ],
      ...[
        { ...stored, sample: null },
        { ...stored, sample: { ...sample, newest: sums.slice(1) } },
      ],
      ...[{ ...stored, sample: { ...sample, whole: ['1', ...sums.slice(1)] } }],
    ];
    for (const other of others) {
      writeFileSync(path, JSON.stringify(other));
      expect(readCalibration(folder)).toBeNull();
    }
    writeFileSync(path, '{"version"');
    expect(readCalibration(folder)).toBeNull();
  });

  const lived = async (turns: number): Promise<readonly [string, HistoryStore]> => {
    const folder = quickFolder();
    const store = await openIn(folder);
    for (let turn = 0; turn < turns; turn += 1) await exchange(store, prose(20, turn), prose(40, turn + 1000));
    return [folder, store];
  };

  it('is the same however the calibration is spread over processes', async () => {
    const [folder, store] = await lived(120);
    const calibrate = async (budgets: () => number): Promise<Calibration | null> => {
      for (let round = 0; round < 1000; round += 1) {
        const recall = recallIn(folder, store);
        const isDone = await recall.calibrate(budgets());
        recall.close();
        if (isDone) break;
      }
      const log = (await store.reading()).log;
      const path = join(folder, 'recall', log);
      const found = readCalibration(path);
      writeFileSync(join(path, THRESHOLD_FILE), '');
      return found;
    };
    const whole = await calibrate(() => 60_000);
    expect(whole?.sample.count).toBe(200);
    const random = fc.sample(fc.integer({ min: 0, max: 3 }), 1000);
    expect(await calibrate(() => random.pop() ?? 0)).toEqual(whole);
    await store.close();
  }, 120_000);

  it('is a fixed one while there are few messages, and those of the last calibration until the next has enough samples', async () => {
    const [folder, store] = await lived(30);
    const recall = recallIn(folder, store);
    const known = { isSeen: () => false, isSaid: () => false };
    const thresholds = async () => {
      const found = await recall.remind('zeppelin over the harbour', known, 3000, Number.POSITIVE_INFINITY);
      return found === 'late' ? null : found.thresholds;
    };
    expect(await recall.calibrate(60_000)).toBe(true);
    expect(await thresholds()).toEqual(UNCALIBRATED);
    writeCalibration(join(folder, 'recall', (await store.reading()).log), {
      ...CALIBRATION,
      sample: { ...CALIBRATION.sample, documents: 10 },
    });
    for (let turn = 0; turn < 40; turn += 1) await exchange(store, prose(20, turn + 500), prose(40, turn + 1500));
    expect(await recall.calibrate(0)).toBe(false);
    expect(await thresholds()).toEqual(CALIBRATION.thresholds);
    expect(await recall.calibrate(60_000)).toBe(true);
    expect(await thresholds()).not.toEqual(CALIBRATION.thresholds);
    recall.close();
    await store.close();
  }, 60_000);

  it('lets short passages through before long ones that match hardly better', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    for (let turn = 0; turn < 40; turn += 1) {
      const said = `The zeppelin anchored over the harbour, berth ${turn}.`;
      await exchange(
        store,
        turn % 2 === 0 ? said : `${said} ${said} ${said} ${prose(300, turn)}`,
        prose(60, turn + 1000),
      );
    }
    const recall = recallIn(folder, store);
    const known = { isSeen: () => false, isSaid: () => false };
    const found = await recall.remind('zeppelin over the harbour', known, 600, Number.POSITIVE_INFINITY);
    const lengths = found === 'late' ? [] : found.reminders.map(({ text }) => text.length);
    expect(lengths.length).toBeGreaterThan(5);
    expect(Math.max(0, ...lengths)).toBeLessThan(100);
    recall.close();
    await store.close();
  });
});
