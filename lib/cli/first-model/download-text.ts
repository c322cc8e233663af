import type { PullProgress } from '../../providers/common/provider.js';
import { shortTime } from '../../screen/print.js';

const MOST_CELLS = 24;
/** How long the start of a download says nothing about its speed, in milliseconds. */
const SETTLING = 1000;

/** The progress of a download on one line: a bar, the share, the size, the speed and the remaining time. */
export function downloadText(
  name: string,
  { done, all }: PullProgress,
  { began, elapsed }: { readonly began: number; readonly elapsed: number },
  columns: number,
): string {
  if (all === null) return `Downloading ${name} …`;
  if (done >= all) return `Checking ${name} …`;
  const share = done / all;
  const speed = elapsed < SETTLING ? 0 : (1000 * (done - began)) / elapsed;
  const figures = [
    `${Math.floor(100 * share)} %`,
    `${bytesText(done)} of ${bytesText(all)}`,
    ...(speed > 0 ? [`${bytesText(speed)}/s`, `${shortTime((1000 * (all - done)) / speed)} left`] : []),
  ].join(' · ');
  const words = `Downloading ${name} `;
  const cells = Math.min(MOST_CELLS, columns - words.length - figures.length - 3);
  return `${words}${cells < 4 ? '' : `${bar(share, cells)} `}${figures}`;
}

function bar(share: number, cells: number): string {
  const filled = Math.floor(share * cells);
  return `▕${'█'.repeat(filled)}${'░'.repeat(cells - filled)}▏`;
}

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A size as people read it: `2.0 GB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
