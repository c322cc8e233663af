import { availableParallelism } from 'node:os';

/** Specs are TypeScript, compiled one file at a time; ES modules stay ES modules, as in the program. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/spec'],
  testMatch: ['**/*.spec.ts'],
  // Real servers take minutes: `npm run test:servers`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/spec/servers/'],
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
  // Specs of the program wait more than they compute: three workers keep two cores busy. Workers are renewed, for modules of ES specs are never let go.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  workerIdleMemoryLimit: '1GB',
};
