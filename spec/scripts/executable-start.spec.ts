import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORT = /^import (?!type )[^;]*?'([^']+)';/gm;

/** The modules of Node's that a file imports, by others of ours too. */
function nodeModules(file: string, found = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const other = join(dirname(file), name.replace(/\.js$/, '.ts'));
    if (name.startsWith('node:')) found.add(name);
    else if (name.startsWith('.') && !seen.has(other)) nodeModules(other, found, seen);
  }
  return found;
}

// What each costs in Bun, where an empty program takes eight milliseconds: `node:stream`, `node:tty` and `node:zlib` four, `node:crypto`, `node:util` and
// `node:worker_threads` two or three.
it("the executable prints its version with only Node's modules for files and paths", () => {
  expect([...nodeModules(join(ROOT, 'bin/hi-executable.ts'))].sort()).toEqual(['node:fs', 'node:path']);
});

it.each(['node:tty', 'node:worker_threads', 'node:zlib'])('a run begins without %s', (name) => {
  expect(nodeModules(join(ROOT, 'lib/cli/run.ts'))).not.toContain(name);
});
