// `npm run mutate -- lib/session`: changes that room in many small ways, one at a time, and lists the changes that no spec of the room notices.
// What follows are more specs to run, for rooms that those of other folders hold too. Fails below 80 % of the changes noticed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jest from '../jest.config.js';

const [place = '', ...more] = process.argv.slice(2);
const room = /^lib\/([^/]+)/.exec(place)?.[1];
if (room === undefined)
  throw new Error(`'${place}' is no room. Name one, or a file of it: npm run mutate -- lib/session`);
const specs = [`spec/${room}/**/*.spec.ts`, ...more];

const folder = mkdtempSync(join(tmpdir(), 'hi-mutate-'));
const options = {
  mutate: [place.endsWith('.ts') ? place : `${place}/**/*.ts`],
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    projectType: 'custom',
    enableFindRelatedTests: false,
    config: { ...jest, testMatch: specs.map((spec) => `<rootDir>/${spec}`) },
  },
  coverageAnalysis: 'perTest',
  // Specs that wait for each other's processor time would end late, which counts as noticed.
  concurrency: 1,
  // Stryker reads tsconfig.json by an interface that TypeScript 7 no longer has.
  tsconfigFile: 'none',
  tempDirName: join(folder, 'changed'),
  ignorePatterns: ['dist', 'bench'],
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false },
  thresholds: { high: 90, low: 80, break: 80 },
};
const file = join(folder, 'stryker.json');
writeFileSync(file, JSON.stringify(options));
const { status } = spawnSync('npx', ['stryker', 'run', file], { stdio: 'inherit' });
rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
