import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-regexes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function checked(text: string): { readonly status: number | null; readonly stderr: string } {
  writeFileSync(join(folder, 'example.ts'), text);
  return spawnSync(process.execPath, ['scripts/run.js', 'check-regexes', folder], { encoding: 'utf8' });
}

describe('the check of regular expressions', () => {
  it('reports an exponential one, with its place', () => {
    const { status, stderr } = checked('export const a = 1;\nexport const slow = /^(a+)+$/;\n');
    expect(stderr).toContain('example.ts:2: /^(a+)+$/ is not linear: exponential');
    expect(status).toBe(1);
  });

  it('reports a quadratic one, and one built at run time that no entry covers', () => {
    const { status, stderr } = checked('export const a = (b: string) => [/a*a*$/, new RegExp(b)];\n');
    expect(stderr).toContain('/a*a*$/ is not linear');
    expect(stderr).toContain('builds patterns');
    expect(status).toBe(1);
  });

  it('accepts linear ones', () => {
    expect(checked('export const a = /^[a-z]+=\\d+$/;\n')).toMatchObject({ status: 0 });
  });
});
