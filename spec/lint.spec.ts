import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '..');
const RULE = 'scripts/no-spread-arguments.grit';

/** A project with the lint rules of this one. */
let project = '';

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'hi-lint-'));
  const rules = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  write('biome.json', JSON.stringify({ ...rules, $schema: undefined, vcs: undefined }));
  write(RULE, '');
  cpSync(join(ROOT, RULE), join(project, RULE));
});

afterAll(() => rmSync(project, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

/** What the linter says about a file with that text. */
function linted(path: string, text: string): string {
  write(path, text);
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [biome, 'lint', '--colors=off', path], { cwd: project, encoding: 'utf8' });
  return run.stdout + run.stderr;
}

describe('the lint rule against spread arguments', () => {
  it.each([
    'export const most = (xs: number[]) => Math.max(0, ...xs);',
    'export const all = (xs: number[], ys: number[]) => xs.push(...ys);',
    'export const all = (xs: number[], ys?: number[]) => ys?.push(1, ...xs, 2);',
    'export const text = (codes: number[]) => String.fromCharCode(...codes);',
    'export const made = (parts: [number, number]) => new Date(...parts);',
    'export const most = (xs: number[]) => Math.max.apply(null, xs);',
  ])('refuses %s', (text) => {
    expect(linted('lib/chat/example.ts', text)).toMatch(/overflows the stack/);
  });

  it.each([
    'export const all = (xs: number[], ys: number[]) => new Set([...xs, ...ys]);',
    'export const all = (xs: object) => Object.keys({ ...xs, a: 1 });',
    'export const later = (xs: number[]) => xs.map(() => [...xs]);',
    'export function all(...xs: number[]): number { return xs.length; }',
  ])('accepts %s', (text) => {
    expect(linted('lib/chat/example.ts', text)).toMatch(/^Checked 1 file/);
  });

  it.each(['bin/example.ts', 'bench/example.ts', 'scripts/example.js'])('holds in %s', (path) => {
    expect(linted(path, 'export const most = (xs) => Math.max(...xs);')).toMatch(/overflows the stack/);
  });
});
