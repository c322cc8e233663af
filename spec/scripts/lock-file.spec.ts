import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type LockFile, lockFaults, type Manifest } from '../../scripts/lock-file.js';

const integrity = `sha512-${'A'.repeat(86)}==`;
const swc = { integrity, optionalDependencies: { '@swc/core-darwin-arm64': '1.0.0' } };
const manifest: Manifest = { engines: { node: '>=20.17' } };
const project = JSON.parse(readFileSync(resolve('package.json'), 'utf8'));
const faults = (packages: LockFile['packages']) => lockFaults({ packages }, manifest);

describe('the check of the lock file', () => {
  it('accepts the lock file of the project', () => {
    expect(lockFaults(JSON.parse(readFileSync(resolve('package-lock.json'), 'utf8')), project)).toEqual([]);
  });

  it('finds an optional package of another platform that has no entry', () => {
    expect(faults({ '': {}, 'node_modules/@swc/core': swc })).toEqual([
      "'@swc/core-darwin-arm64' has no entry, an optional dependency of 'node_modules/@swc/core'.",
    ]);
  });

  it('accepts an entry next to the package, above it, or below it', () => {
    for (const place of ['', 'node_modules/jest/', 'node_modules/jest/node_modules/@swc/core/']) {
      const packages = {
        'node_modules/jest/node_modules/@swc/core': swc,
        [`${place}node_modules/@swc/core-darwin-arm64`]: { integrity, version: '1.0.0' },
      };
      expect(faults(packages)).toEqual([]);
    }
  });

  it('does not accept an entry that belongs to another package', () => {
    const packages = {
      'node_modules/@swc/core': swc,
      'node_modules/a/node_modules/@swc/core-darwin-arm64': { integrity, version: '1.0.0' },
    };
    expect(faults(packages)).toHaveLength(1);
  });

  it('finds an optional package of another version than is needed', () => {
    const packages = {
      'node_modules/@swc/core': swc,
      'node_modules/@swc/core-darwin-arm64': { integrity, version: '0.9.0' },
    };
    expect(faults(packages)).toEqual([
      "'node_modules/@swc/core-darwin-arm64' is 0.9.0, but 'node_modules/@swc/core' needs 1.0.0.",
    ]);
  });

  it('finds a package without integrity, except the project itself, links and bundled packages', () => {
    const packages = {
      '': {},
      'node_modules/a': {},
      'node_modules/b': { link: true, resolved: 'b' },
      'node_modules/c/node_modules/d': { inBundle: true },
    };
    expect(faults(packages)).toEqual(["'node_modules/a' has no integrity."]);
  });

  it('finds an integrity that is empty, cut off, or an old hash', () => {
    for (const wrong of ['', 'sha512-x', integrity.slice(0, -3), `sha1-${'A'.repeat(27)}=`])
      expect(faults({ 'node_modules/a': { integrity: wrong } })).toEqual([`'node_modules/a' has no sha512: ${wrong}`]);
  });

  it('finds the address of a registry, a repository or a file', () => {
    for (const resolved of ['https://registry.example/a.tgz', 'git+ssh://git@host/a.git#1', 'file:../a.tgz'])
      expect(faults({ 'node_modules/a': { integrity, resolved } })).toEqual([
        `'node_modules/a' names an address: ${resolved}`,
      ]);
  });

  it('finds a package for some platforms that all would have to install', () => {
    for (const some of [{ os: ['darwin'] }, { cpu: ['arm64'] }, { libc: ['musl'] }]) {
      expect(faults({ 'node_modules/a': { integrity, ...some } })).toEqual([
        "'node_modules/a' is for some platforms only, but not optional.",
      ]);
      expect(faults({ 'node_modules/a': { integrity, ...some, optional: true } })).toEqual([]);
    }
  });

  it('finds a package that does not run on the oldest Node of hi', () => {
    const needs = (node: string) => faults({ 'node_modules/a': { integrity, engines: { node } } });
    expect(needs('>=20.19.0')).toEqual(["'node_modules/a' needs Node >=20.19.0, hi 20.17.0."]);
    expect(needs('^20.17.0 || ^22.13.0 || >=23.5.0')).toHaveLength(0);
    expect(needs('>= 20')).toEqual([]);
    expect(faults({ 'node_modules/a': { integrity, engines: { node: '>=22' }, optional: true } })).toEqual([]);
  });

  it('finds a difference to package.json', () => {
    const root = { dependencies: { a: '1' }, devDependencies: { b: '^1' } };
    expect(lockFaults({ packages: { '': root } }, { ...manifest, devDependencies: { b: '^2', c: '1' } })).toEqual([
      "'a' is 1 in it, not in package.json.",
      "'b' is ^1 in it, ^2 in package.json.",
      "'c' is not in it, 1 in package.json.",
    ]);
  });
});
