import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const MEMORY = '/dev/shm';
const ROOM = 2 ** 31;

/** True where a disk in memory has room for what specs write. */
function hasRoom() {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM;
}

// A history waits for the disk after each write, and specs write thousands of times: their temporary folders are in memory where that can be.
if (hasRoom()) {
  const folder = mkdtempSync(`${MEMORY}/hi-`);
  // Some specs run programs as somebody else.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Specs are TypeScript, compiled one file at a time; ES modules stay ES modules, as in the program. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/spec'],
  testMatch: ['**/*.spec.ts'],
  // Real servers take minutes: `npm run test:servers`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/spec/servers/'],
  setupFilesAfterEnv: ['<rootDir>/spec/support/second-run.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  // A spec ends by itself; the limit only stops what hangs, on slow and busy machines too.
  testTimeout: 120_000,
  // Specs of the program wait more than they compute: four workers keep two cores busy. Workers are renewed, for modules of ES specs are never let go.
  maxWorkers: 2 * availableParallelism(),
  workerIdleMemoryLimit: '1GB',
};
