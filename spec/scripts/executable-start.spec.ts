import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { LATE } from '../../scripts/build/late.js';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORT = /^import (?!type )[^;]*?'([^']+)';/gm;

/** The packages and modules of Node that a file imports, by others of ours too, but not by those that wait for their first call. */
function importedBy(file: string, found = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const other = join(dirname(file), name.replace(/\.js$/, '.ts'));
    if (!name.startsWith('.')) found.add(name);
    else if (!seen.has(other) && !LATE.includes(relative(ROOT, other))) importedBy(other, found, seen);
  }
  return found;
}

// What each costs in Bun, where an empty program takes eight milliseconds: `node:stream`, `node:tty` and `node:zlib` four, `node:crypto`, `node:util` and
// `node:worker_threads` two or three.
it('the executable prints its version without anything of Node', () => {
  expect([...importedBy(join(ROOT, 'bin/hi-executable.ts'))]).toEqual([]);
});

it.each(['commander', 'node:stream', 'node:tty', 'node:worker_threads', 'node:zlib'])(
  'a run begins without %s',
  (name) => {
    expect(importedBy(join(ROOT, 'lib/cli/run.ts'))).not.toContain(name);
  },
);
