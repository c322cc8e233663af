import { describe, expect, it } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { exportsOf, inAscii } from '../../scripts/build/compiled-parts.js';
import { nodeModules } from '../../scripts/build/node-modules.js';
import { oneCore } from '../../scripts/build/one-core.js';
import { onlyCalled } from '../../scripts/build/only-called.js';
import { removeBuildOnly } from '../../scripts/build/remove-build-only.js';
import { replaced } from '../../scripts/build/replaced.js';

/** The bundle of a line of code, as text. */
async function bundled(line: string, ...plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: line, resolveDir: process.cwd(), loader: 'ts' },
    plugins,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  return outputFiles?.[0]?.text ?? '';
}

/** The filters of the files that a plugin loads. */
async function filtersOf({ setup }: Plugin): Promise<readonly RegExp[]> {
  const filters: RegExp[] = [];
  const nothing = (): void => {};
  const onLoad = ({ filter }: { readonly filter: RegExp }): void => void filters.push(filter);
  await setup(Object.assign(Object.create(null), { onLoad, onResolve: nothing, onEnd: nothing }));
  return filters;
}

describe('the build', () => {
  it('finds the files of its plugins on Windows, too', async () => {
    for (const plugin of [replaced('none', {}), oneCore([]), onlyCalled])
      for (const [folder, between] of [
        ['/home/ann/hi', '/'],
        ['C:\\ann\\hi', '\\'],
      ] as const) {
        const files = [
          'lib/cli/run.ts',
          ...['openai', '@anthropic-ai/sdk'].map((sdk) => `node_modules/${sdk}/resources/files.mjs`),
        ];
        const paths = files.map((file) => [folder, ...file.split('/')].join(between));
        for (const filter of await filtersOf(plugin))
          expect([plugin.name, folder, paths.some((path) => filter.test(path))]).toEqual([plugin.name, folder, true]);
      }
  });

  it('replaces a module with code', async () => {
    const plugin = replaced('clock', { 'lib/clock.ts': () => 'export const monotonic = () => "replaced";' });
    const text = await bundled("import { monotonic } from './lib/clock.js'; console.log(monotonic());", plugin);
    expect(text).toContain('"replaced"');
    expect(text).not.toContain('performance');
  });

  it('fails if the program no longer imports a module that is replaced', async () => {
    const plugin = replaced('gone', { 'lib/gone.ts': () => '' });
    await expect(bundled("import './lib/clock.js';", plugin)).rejects.toThrow(/does not import .*lib\/gone\.ts/);
  });

  it('fails if a part of an SDK that adapters call does not exist', async () => {
    await expect(bundled("import './lib/clock.js';", onlyCalled)).rejects.toThrow(
      /'openai chat' .* no longer in the SDK/,
    );
  });

  it("loads only what is used of Node's modules", async () => {
    const text = await bundled("import { statSync } from 'node:fs'; console.log(statSync('.'));", nodeModules);
    expect(text).toContain('process.getBuiltinModule("fs")');
    expect(text).not.toMatch(/^import /m);
    expect(text).not.toContain('createReadStream');
  });

  it('removes the chunks that only the tables of options need, and no others', () => {
    const chunk = (imports: readonly string[], entryPoint?: string) => ({
      ...{ bytes: 1, inputs: {}, exports: [], ...(entryPoint && { entryPoint }) },
      imports: imports.map((path) => ({ path, kind: 'import-statement' as const })),
    });
    const outputs = {
      'gone/hi.js': chunk(['gone/core.js', 'gone/a-options.js'], 'bin/hi.ts'),
      'gone/core.js': chunk([]),
      'gone/types.js': chunk(['gone/core.js']),
      'gone/a-options.js': chunk(['gone/types.js', 'gone/core.js'], 'lib/providers/a/a-options.ts'),
    };
    expect(removeBuildOnly({ inputs: {}, outputs })).toEqual(['gone/types.js', 'gone/a-options.js']);
    expect(() => removeBuildOnly({ inputs: {}, outputs: {} })).toThrow('nothing to remove');
    const inputs = { 'lib/providers/option-tables.ts': { bytes: 1, imports: [] } };
    expect(() => removeBuildOnly({ inputs, outputs })).toThrow('whose tables the build removes');
  });

  it('exports what a script has under names that are reserved words', async () => {
    const names = ['a', '$', 'do', 'if', 'in', 'let', 'new', 'default', 'arguments$'];
    const { metafile } = await build({
      stdin: { contents: `const all$={};${exportsOf(names)}`, loader: 'js' },
      bundle: true,
      write: false,
      format: 'esm',
      metafile: true,
    });
    expect(Object.values(metafile.outputs)[0]?.exports.toSorted()).toEqual(names.toSorted());
  });
});

describe('code in ASCII', () => {
  it.each(['“', '[ß-ÿ“”]+', '\\“', '\\\\“', '[\\–x]', '🙂{2}', '[🙂-🙃]'])(
    'has regular expressions and texts that mean the same: %s',
    (source) => {
      const texts = ['“', 'ß”', '\\“', '\\', '–', '🙂🙂', '🙃', 'x', 'u201c'];
      // Not all of them are valid with and without the flag.
      for (const flags of ['', 'u'].filter((flag) => isPattern(source, flag))) {
        const code = inAscii(`return[/^(?:${source})$/${flags},${JSON.stringify(texts)}]`);
        expect(/^[ -~]*$/.test(code)).toBe(true);
        const [pattern, same] = new Function(code)();
        expect(same).toEqual(texts);
        expect(texts.map((text) => pattern.test(text))).toEqual(
          texts.map((text) => new RegExp(`^(?:${source})$`, flags).test(text)),
        );
      }
    },
  );
});

function isPattern(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags).flags === flags;
  } catch {
    return false;
  }
}
