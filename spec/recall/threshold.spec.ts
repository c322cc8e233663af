import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readThreshold, THRESHOLD_FILE, writeThreshold } from '../../lib/recall/threshold.js';
import { quickFolder } from '../support/history.js';

it('keeps the threshold, but not for text that is split into other words', () => {
  const folder = quickFolder();
  expect(readThreshold(folder)).toBeNull();
  writeThreshold(folder, { documents: 4000, certainty: 2.5 });
  expect(readThreshold(folder)).toEqual({ documents: 4000, certainty: 2.5 });

  const path = join(folder, THRESHOLD_FILE);
  const { version, ...threshold } = JSON.parse(readFileSync(path, 'utf8'));
  for (const other of [threshold, { ...threshold, version: version - 1 }, { version, certainty: 2.5 }, 7, null]) {
    writeFileSync(path, JSON.stringify(other));
    expect(readThreshold(folder)).toBeNull();
  }
  writeFileSync(path, '{"version"');
  expect(readThreshold(folder)).toBeNull();
});
