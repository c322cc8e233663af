// `npm run mutate -- lib/session`: changes that room in many small ways, one at a time, and lists the changes that no
// spec of the room notices. `--sample 150` tries that many of them, drawn at random, and reports the accuracy of the
// score, even when it is stopped; `--seed` draws the same again. `--without FILE` leaves out a spec that is too slow to
// run for each mutant. Arguments after the room are further specs to run, in addition to those of `COVERED_BY`. Fails
// if less than 80 % of the changes are noticed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import jest from '../jest.config.js';
import { STOP_SIGNALS } from '../lib/processes.js';
import type { SampleOptions } from './mutate/plugin.js';

/** Specs of other rooms that test decisions of this one. */
const COVERED_BY: Readonly<Record<string, readonly string[]>> = {
  compaction: ['spec/history/compaction.spec.ts'],
  permission: [
    'spec/tools/{dispatch/{approval-gate,dispatcher},generated-commands,hostile-commands,hostile-file}.spec.ts',
  ],
  session: ['spec/history/{compaction,reset-history}.spec.ts'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    concurrency: { type: 'string', default: '1' },
    without: { type: 'string', multiple: true, default: [] },
  },
});
const [place = '', ...more] = positionals;
const room = /^lib\/([^/]+)/.exec(place)?.[1];
if (room === undefined)
  throw new Error(`Unknown room '${place}'. Name a folder of lib, or a file in it: npm run mutate -- lib/session`);
const specs = [`spec/${room}/**/*.spec.ts`, ...(COVERED_BY[room] ?? []), ...more];

const folder = mkdtempSync(join(tmpdir(), 'hi-mutate-'));
const sample: SampleOptions = {
  folder,
  sample: values.sample === undefined ? null : wholeNumber('sample', values.sample),
  seed: wholeNumber('seed', values.seed),
};

// Next to the packages that it imports. Built with esbuild, because Stryker loads plugins as JavaScript.
const plugin = join(process.cwd(), 'node_modules', `.hi-mutate-${process.pid}.mjs`);
buildSync({
  entryPoints: ['scripts/mutate/plugin.ts'],
  outfile: plugin,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
});

// Jest loads this file by `require`, and asks it which of all spec files to run.
const filter = join(folder, 'filter.cjs');
writeFileSync(
  filter,
  'module.exports = (paths) => { const only = process.env.HI_MUTATE_SPECS; return { filtered: only ? paths.filter((path) => path === only) : paths }; };',
);

const options = {
  mutate: [place.endsWith('.ts') ? place : `${place}/**/*.ts`],
  testRunner: 'jest-sample',
  plugins: [plugin],
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    projectType: 'custom',
    enableFindRelatedTests: false,
    config: {
      ...jest,
      testTimeout: 120_000,
      filter,
      testMatch: specs.map((spec) => `<rootDir>/${spec}`),
      testPathIgnorePatterns: values.without,
    },
  },
  coverageAnalysis: 'perTest',
  concurrency: wholeNumber('concurrency', values.concurrency),
  // Generous, because a timeout counts as noticed, but a spec that is late on a busy machine has noticed nothing.
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 60,
  // Stryker reads tsconfig.json with an API that TypeScript 7 no longer has.
  tsconfigFile: 'none',
  tempDirName: join(folder, 'changed'),
  ignorePatterns: ['dist', 'bench'],
  reporters: ['sample', 'progress-append-only'],
  logLevel: 'warn',
  warnings: { unknownOptions: false, slow: false },
};
const file = join(folder, 'stryker.json');
writeFileSync(file, JSON.stringify(options));
const env = { ...process.env, HI_MUTATE: JSON.stringify(sample) };
const stryker = spawn(process.execPath, ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', file], {
  stdio: 'inherit',
  env,
});
// Passed on, so that Stryker reports the score so far and its leftovers are removed here.
for (const signal of STOP_SIGNALS) process.on(signal, () => stryker.kill(signal));
const [status] = await once(stryker, 'exit');
const isEnough = status === 0 && JSON.parse(readFileSync(join(folder, 'score.json'), 'utf8')).score >= 80;
rmSync(folder, { recursive: true, force: true });
rmSync(plugin, { force: true });
process.exitCode = isEnough ? 0 : 1;

function wholeNumber(name: string, value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new Error(`Invalid --${name} '${value}'. Give a whole number.`);
}
