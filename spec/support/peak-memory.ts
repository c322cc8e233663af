import { readFileSync } from 'node:fs';

/** The most memory that a process had until `ended` settled, in MB, as Linux tells; 0 elsewhere. */
export async function peakMemory(pid: number | undefined, ended: Promise<unknown>): Promise<number> {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(pid));
  }, 20);
  await ended.finally(() => clearInterval(watch));
  return peak;
}

/** Of a process that has ended it is 0. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

const MOST_TRIES = 3;

/**
 * The least peak of a few runs, the first of them below `bound`. On a busy machine garbage is collected late, now and
 * then by tens of megabytes; a leak, or anything else that grows with what is read, is above the bound in every run.
 */
export async function leastPeak(bound: number, run: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < MOST_TRIES && least >= bound; tries += 1) least = Math.min(least, await run());
  return least;
}
