import { qualityRows } from './recall-quality.js';
import { speedRows } from './recall-speed.js';
import { setNames, talks } from './recall-talks.js';
import type { Row } from './row.js';

/** How well earlier messages are found, and what a search costs. */
export async function rows(): Promise<readonly Row[]> {
  return [...(await qualityRows()), ...(await speedRows(setNames().flatMap(talks)))];
}
