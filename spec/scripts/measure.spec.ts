import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cycles } from '../../scripts/measure/cycles.js';
import { repeatedLines } from '../../scripts/measure/repeated.js';
import { LONG, readSources } from '../../scripts/measure/source.js';
import { TYPED_LINE } from '../../scripts/measure/typed-line.js';

describe('the measures', () => {
  it('are within what docs/architecture.md allows', () => {
    const all = readSources(['bin', 'lib']);
    const graph = new Map(all.map(({ file, imports }) => [file, imports]));
    const folders = new Map<string, string[]>();
    for (const [file, imports] of graph) {
      const others = imports.map((path) => dirname(path)).filter((folder) => folder !== dirname(file));
      folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), ...others]);
    }
    const interfaces = all.flatMap((source) => source.interfaces.map(({ members }) => members));
    const now: Readonly<Record<string, number>> = {
      [`functions above ${LONG} lines, tables included`]: all
        .flatMap((source) => source.functions)
        .filter(({ lines }) => lines > LONG).length,
      'import cycles between files, types and imports on demand included': cycles(graph).length,
      'import cycles between folders': cycles(folders).length,
      'imports of our modules on demand': all.flatMap(({ onDemand }) => onDemand).length,
      'members of the largest interface with functions': Math.max(...interfaces),
      'files that a typed line passes through': TYPED_LINE.length,
    };
    const rows = [
      ...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| ([^|]+) \| [^|]+ \| [^|]+ \| (\d+) \|$/gm),
    ];
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(now));
    for (const [, name = '', most] of rows) expect([name, (now[name] ?? 0) <= Number(most)]).toEqual([name, true]);
    for (const [at, file] of TYPED_LINE.entries()) expect([at, graph.has(file)]).toEqual([at, true]);
  });

  it('find import cycles, the largest first', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['a', 'c']],
      ['c', ['d']],
      ['d', ['e']],
      ['e', ['c']],
      ['f', ['a', 'f']],
      ['g', ['a', 'elsewhere']],
    ]);
    expect(cycles(graph)).toEqual([['c', 'd', 'e'], ['a', 'b'], ['f']]);
  });

  it('find six repeated lines of code, ignoring comments and blank lines', () => {
    const lines = ['one();', 'two();', 'three();', 'four();', 'five();', 'six();'];
    const texts = [
      { file: 'a.ts', text: lines.join('\n') },
      {
        file: 'b.ts',
        text: ["import { one } from './a.js';", '', ...lines.flatMap((line) => ['// a comment', line])].join('\n'),
      },
      { file: 'c.ts', text: lines.slice(1).join('\n') },
    ];
    expect(repeatedLines(texts)).toEqual(['a.ts:1 = b.ts:4']);
  });

  it('count types and dynamic imports as imports, and each function with a body', () => {
    const sources = new Map(readSources(['bin', 'lib']).map((source) => [source.file, source]));
    expect(sources.get('bin/hi.ts')?.imports).toEqual(['lib/cli/base/world.ts', 'lib/cli/main.ts']);
    const main = sources.get('lib/cli/main.ts');
    expect(main?.imports).toEqual(expect.arrayContaining(['lib/cli/base/world.ts', 'lib/cli/run.ts']));
    expect(main?.functions.map(({ name }) => name)).toContain('main');
    expect(main?.exports).toEqual(['main']);
  });
});
