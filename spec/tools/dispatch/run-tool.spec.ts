import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../lib/tools/common/tool.js';
import { OutputQueue } from '../../../lib/tools/shell/run-shell.js';
import { type Bench, bench, runnerOn } from '../../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
});
afterEach(() => place.remove());

const deaf: Tool = {
  name: 'deaf',
  accessKind: 'read',
  rulesCoverKind: false,
  effect: null,
  description: 'Never ends and does not listen.',
  parameters: { type: 'object' },
  access: (_, { cwd }) => ({ kind: 'read', path: cwd.now }),
  run: () => new Promise(() => {}),
};

describe('a tool that ignores the abort signal', () => {
  it('is abandoned when it is interrupted', async () => {
    const { run, call } = runnerOn(place, { tools: [deaf] });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const { results } = await run([call('deaf', {}), call('deaf', {})], stop.signal);
    expect(results.map(({ error }) => error)).toEqual(['interrupted', 'interrupted']);
  });

  it('is abandoned some time after its time limit', async () => {
    place = { ...place, context: { ...place.context, timeout: 100 } };
    const { one } = runnerOn(place, { tools: [deaf] });
    expect((await one('deaf', {})).error).toBe('The call did not end within 0.1 s.');
  });
});

describe('a tool that throws', () => {
  it('returns a result that the model reads, and the next call runs', async () => {
    const broken: Tool = { ...deaf, name: 'broken', run: () => Promise.reject(new TypeError('x is not a function')) };
    const { run, call } = runnerOn(place, { tools: [broken] });
    const { results } = await run([call('broken', {}), call('broken', {})]);
    expect(results.map(({ error }) => error?.endsWith('x is not a function'))).toEqual([true, true]);
  });
});

describe('output on its way to the screen', () => {
  it('is joined while nobody reads it', async () => {
    const queue = new OutputQueue();
    queue.add('one ');
    queue.add('two');
    await queue.next(new Promise(() => {}));
    expect([queue.take(), queue.take()]).toEqual([{ text: 'one two', lines: 0 }, null]);
  });

  it('never piles up: what the screen is too slow for is left out, with a notice', () => {
    const queue = new OutputQueue();
    for (let piece = 0; piece < 1000; piece += 1) queue.add(`${'x'.repeat(999)}\n`);
    const { text = '', lines } = queue.take() ?? {};
    expect(lines).toBe(1000);
    const missing = Number(/\[… (\d+) characters not shown …\]/.exec(text)?.[1]);
    expect(text.length).toBeLessThan(70_000);
    expect(missing + text.replace(/^.*…\]\n/s, '').length).toBe(1_000_000);
  });
});
