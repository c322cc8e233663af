import { describe, expect, it } from '@jest/globals';
import { cycles } from '../../scripts/measure/cycles.js';
import { repeatedLines } from '../../scripts/measure/repeated.js';
import { readSources } from '../../scripts/measure/source.js';

describe('the measures', () => {
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
