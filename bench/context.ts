import { performance } from 'node:perf_hooks';
import { passFor } from '../lib/compaction/run-strategy.js';
import { measure } from '../lib/view/measure.js';
import { view } from '../lib/view/view.js';
import { inputFor, SETTINGS } from '../spec/support/compaction.js';
import { Log } from '../spec/support/log.js';
import { sixtyFacts } from '../spec/support/sixty-facts.js';
import { median, type Row } from './row.js';

const MESSAGES = 10_000;
const ROUNDS = 21;

/** How long it takes to decide what to send, and what a long conversation costs at the provider. */
export async function rows(): Promise<readonly Row[]> {
  const summary = await sixtyFacts();
  const replace = await sixtyFacts({ strategy: 'replace' });
  const { first, later } = viewAndPlan();
  const percent = (share: number) => Math.round(share * 1000) / 10;
  return [
    {
      what: `view, measure and plan of ${MESSAGES} messages, before each request`,
      value: later,
      unit: 'ms',
      limit: 20,
    },
    { what: 'the same, the first time after the log was read', value: first, unit: 'ms' },
    { what: 'facts of 60 still in view after 600 turns (summary)', value: summary.facts, unit: '', least: 60 },
    { what: 'passes over 600 turns (summary)', value: summary.passes, unit: '' },
    { what: 'uncached share of prompt tokens (summary)', value: percent(summary.uncached), unit: '%', limit: 10 },
    { what: 'mean share of the window in use (summary)', value: percent(summary.fullness), unit: '%' },
    { what: 'uncached share of prompt tokens (replace)', value: percent(replace.uncached), unit: '%', limit: 10 },
  ];
}

/**
 * The time of a view, its measure and the plan of a pass: the first time, with empty caches, and the median of later
 * times, each after one more turn.
 */
function viewAndPlan(): { readonly first: number; readonly later: number } {
  const log = new Log();
  const settings = { ...SETTINGS, context_window: 1_000_000 };
  const grow = () => {
    log.user(`question ${'with some words '.repeat(20)}`);
    log.tools({ stdout: 'a line of output\n'.repeat(20), stderr: '', exit_code: 0 });
    log.answer(`answer ${'with some words '.repeat(20)}`);
  };
  for (let turn = 0; turn < MESSAGES / 4; turn++) grow();
  const reloaded = log.reloaded();
  log.entries.length = 0;
  for (const entry of reloaded) log.entries.push(entry);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    measure(view(log.entries, null), log.entries, 2000, settings, 'model');
    passFor(inputFor(log, { settings }));
    times.push(performance.now() - start);
    grow();
  }
  const [first = 0, ...others] = times.map((time) => Math.round(time * 10) / 10);
  return { first, later: median(others) };
}
