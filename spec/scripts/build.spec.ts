import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { builtInModules } from '../../scripts/build/built-in.js';
import { exportedFunctions, LATE, late } from '../../scripts/build/late.js';
import { PackagesApart } from '../../scripts/build/packages-apart.js';
import { replaced } from '../../scripts/build/replaced.js';
import { bundleOf, inAscii } from '../../scripts/build/script.js';

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

/** What CommonJS code exports. */
function evaluated(code: string, modules: Readonly<Record<string, object>> = {}): object {
  const module = { exports: {} };
  new Function('module', 'exports', 'require', code)(module, module.exports, (name: string) => modules[name]);
  return module.exports;
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
  it('finds the files that it replaces on Windows, too', async () => {
    for (const path of ['/home/ann/hi/lib/cli/run.ts', 'C:\\ann\\hi\\lib\\cli\\run.ts'])
      expect((await filtersOf(replaced('none', {}))).map((filter) => filter.test(path))).toEqual([true]);
  });

  it('replaces a module with code', async () => {
    const plugin = replaced('waits', { 'lib/waits.ts': () => 'export const monotonic = () => "replaced";' });
    const text = await bundled("import { monotonic } from './lib/waits.js'; console.log(monotonic());", plugin);
    expect(text).toContain('"replaced"');
    expect(text).not.toContain('performance');
  });

  it('fails if the program no longer imports a module that is replaced', async () => {
    const plugin = replaced('gone', { 'lib/gone.ts': () => '' });
    await expect(bundled("import './lib/waits.js';", plugin)).rejects.toThrow(/does not import .*lib\/gone\.ts/);
  });

  it('evaluates a module that is imported on demand when it is first imported', async () => {
    const { code } = await bundleOf({
      stdin: { contents: "export const load = () => import('./lib/waits.js');", resolveDir: '.' },
    });
    expect(await Reflect.get(evaluated(code), 'load')()).toMatchObject({ monotonic: expect.any(Function) });
  });

  it('puts packages into scripts of their own, from which our modules take what they import', async () => {
    const apart = new PackagesApart();
    const contents = `import { closest } from 'fastest-levenshtein';
      import { Ajv2020 } from 'ajv/dist/2020.js';
      import formats from 'ajv-formats';
      export const load = async () => (await import('js-yaml')).load;
      const ajv = new Ajv2020();
      formats.default(ajv);
      export const check = ajv.compile({ type: 'string', format: closest('data', ['date', 'uri']) });`;
    const { code, inputs } = await bundleOf({ stdin: { contents, resolveDir: '.' }, plugins: [apart.plugin] });
    expect(inputs.filter((file) => /^node_modules/.test(file))).toEqual(['node_modules/fastest-levenshtein/mod.js']);
    const bundles = await apart.bundles();
    // Those that share classes are together.
    expect(Object.keys(bundles).toSorted()).toEqual(['ajv', 'js-yaml']);
    const packages = Object.fromEntries(
      Object.entries(bundles).map(([name, bundle]) => [name, evaluated(bundle.code)]),
    );
    const program = evaluated(code, packages);
    const check = Reflect.get(program, 'check');
    expect(['2026-02-28', '2026-02-30', 1].map((value) => check(value))).toEqual([true, false, false]);
    expect((await Reflect.get(program, 'load')())('a: [1]')).toEqual({ a: [1] });
  });
  it('evaluates a late module at the first call of one of its functions, and once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-late-'));
    const file = join(folder, 'rare.ts');
    writeFileSync(file, "import './runs.js';\nexport function twice(n: number): number { return n * 2; }\n");
    writeFileSync(join(folder, 'runs.ts'), 'globalThis.hiLateRuns = (globalThis.hiLateRuns ?? 0) + 1;');
    const stdin = {
      contents: "import { twice } from './rare.js'; export const four = () => twice(2);",
      resolveDir: folder,
    };
    const { code } = await bundleOf({ stdin, plugins: [late(undefined, [file])] });
    const four = Reflect.get(evaluated(code), 'four');
    const runs = (): unknown => Reflect.get(globalThis, 'hiLateRuns');
    expect(runs()).toBeUndefined();
    expect([four(), four(), runs()]).toEqual([4, 4, 1]);
  });

  it.each(LATE)('can put functions in the place of %s, which exports nothing else', (file) => {
    expect(exportedFunctions(readFileSync(file, 'utf8'))).not.toEqual([]);
  });

  it('refuses a late module whose exports could not wait for a call', () => {
    const kept =
      'export type A = 1;\nexport interface B {}\nexport async function* one() {}\nexport const two = (a: A): A => a;\n';
    expect(exportedFunctions(kept)).toEqual(['one', 'two']);
    for (const line of [
      'const LIST = [];',
      'const sum = (1 + 2) * 3;',
      'class C {}',
      "{ a } from './a.js';",
      "* from './a.js';",
    ])
      expect(() => exportedFunctions(`${kept}export ${line}`)).toThrow(`functions and types only, not '${line}'`);
  });

  it('fails if the program does not import a late module', async () => {
    const plugin = late(undefined, ['lib/errors.ts']);
    await expect(bundled("import './lib/waits.js';", plugin)).rejects.toThrow(/does not import .*lib\/errors\.ts/);
  });
});

describe('a module of Node', () => {
  it('is loaded when something of it is first used, by its name or as a whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-built-in-'));
    const contents = `import zlib from 'node:zlib';
import { Readable, type Writable } from 'node:stream';
      export const sum = () => zlib.crc32('a'); export const has = (name) => name in zlib; export const make = () => Readable.from([]);`;
    writeFileSync(join(folder, 'entry.ts'), contents);
    const { code } = await bundleOf({ entryPoints: [join(folder, 'entry.ts')], plugins: [builtInModules] });
    const loaded: string[] = [];
    const module = { exports: {} };
    new Function('module', 'exports', 'require', code)(module, module.exports, (name: string) => {
      loaded.push(name);
      return process.getBuiltinModule(name);
    });
    const call = (name: string, ...values: readonly unknown[]): unknown => Reflect.get(module.exports, name)(...values);
    expect(loaded).toEqual([]);
    expect([call('sum'), call('sum'), call('has', 'crc32'), call('has', 'none')]).toEqual([
      crc32('a'),
      crc32('a'),
      true,
      false,
    ]);
    expect(loaded).toEqual(['node:zlib']);
    expect(call('make')).toBeInstanceOf(Readable);
    expect(loaded).toEqual(['node:zlib', 'node:stream']);
  });

  it('cannot be imported as a namespace, which could not wait', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-built-in-'));
    writeFileSync(join(folder, 'entry.ts'), "import * as os from 'node:os'; console.log(os.EOL);");
    const built = bundleOf({ entryPoints: [join(folder, 'entry.ts')], plugins: [builtInModules], logLevel: 'silent' });
    await expect(built).rejects.toThrow('imports all of node:os');
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
