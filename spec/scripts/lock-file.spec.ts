import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { lockFaults } from '../../scripts/lock-file.js';

const integrity = 'sha512-x';
const swc = { integrity, optionalDependencies: { '@swc/core-darwin-arm64': '1.0.0' } };

describe('the check of the lock file', () => {
  it('accepts the lock file of the project', () => {
    expect(lockFaults(JSON.parse(readFileSync(resolve('package-lock.json'), 'utf8')))).toEqual([]);
  });

  it('finds an optional package of another platform that has no entry', () => {
    expect(lockFaults({ packages: { '': {}, 'node_modules/@swc/core': swc } })).toEqual([
      "'@swc/core-darwin-arm64' has no entry, an optional dependency of 'node_modules/@swc/core'.",
    ]);
  });

  it('takes an entry beside the package, above it, or below it', () => {
    for (const place of ['', 'node_modules/jest/', 'node_modules/jest/node_modules/@swc/core/']) {
      const packages = {
        'node_modules/jest/node_modules/@swc/core': swc,
        [`${place}node_modules/@swc/core-darwin-arm64`]: { integrity },
      };
      expect(lockFaults({ packages })).toEqual([]);
    }
  });

  it('does not take an entry that belongs to another package', () => {
    const packages = {
      'node_modules/@swc/core': swc,
      'node_modules/a/node_modules/@swc/core-darwin-arm64': { integrity },
    };
    expect(lockFaults({ packages })).toHaveLength(1);
  });

  it('finds a package without integrity, but for the project itself, links and what comes inside another package', () => {
    const packages = {
      '': {},
      'node_modules/a': {},
      'node_modules/b': { link: true },
      'node_modules/c/node_modules/d': { inBundle: true },
    };
    expect(lockFaults({ packages })).toEqual(["'node_modules/a' has no integrity."]);
  });

  it('finds the address of a registry', () => {
    const packages = { 'node_modules/a': { integrity, resolved: 'https://registry.example/a.tgz' } };
    expect(lockFaults({ packages })).toEqual(["'node_modules/a' names a host: https://registry.example/a.tgz"]);
  });
});
