import { qualityRows } from './recall-quality.js';
import type { Row } from './row.js';

/** How well what was said is found again. */
export async function rows(): Promise<readonly Row[]> {
  return await qualityRows();
}
