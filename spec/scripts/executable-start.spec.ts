import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ENTRY = resolve(import.meta.dirname, '../../bin/hi-executable.ts');
const IMPORT = /^import (?!type )[^;]*?'([^']+)';/gm;

/** The modules of Node's that a file imports, by others of ours too. */
function nodeModules(file: string, found = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const other = join(dirname(file), name.replace(/\.js$/, '.ts'));
    if (name.startsWith('node:')) found.add(name);
    else if (!seen.has(other)) nodeModules(other, found, seen);
  }
  return found;
}

// In Bun `node:stream`, `node:tty` and `node:worker_threads` take two to five milliseconds each, where an empty program takes eight.
it('the executable prints its version with no more of Node than files and paths', () => {
  expect([...nodeModules(ENTRY)].sort()).toEqual(['node:fs', 'node:path']);
});
