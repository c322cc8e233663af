import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { LATE } from '../../scripts/build/late.js';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORT = /^import (?!type )[^;]*?'([^']+)';/gm;

/**
 * The packages and modules of Node that a file imports, by others of ours too, but not by those that wait for their
 * first call.
 */
function importedBy(file: string, found = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const other = join(dirname(file), name.replace(/\.js$/, '.ts'));
    if (!name.startsWith('.')) found.add(name);
    else if (!seen.has(other) && !LATE.includes(relative(ROOT, other))) importedBy(other, found, seen);
  }
  return found;
}

// The build loads modules of Node at their first use (`built-in.ts`). The version is to be printed without even looking
// for one.
it('the executable prints its version without anything of Node', () => {
  expect([...importedBy(join(ROOT, 'bin/hi-executable.ts'))]).toEqual([]);
});

it('a run begins without the parser of command lines', () => {
  expect(importedBy(join(ROOT, 'lib/cli/run.ts'))).not.toContain('commander');
});
