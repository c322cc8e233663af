import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Metafile, transform } from 'esbuild';
import { CORE } from './one-core.js';

/** What runs the scripts and keeps them compiled. */
export const LOADER = 'lib/cli/compiled/scripts.ts';

const ADAPTER = /^lib\/providers\/.*-adapter\.ts$/;

type Outputs = Metafile['outputs'];

/**
 * Makes scripts of the chunks that a question to a model needs: the core and the adapters. V8 can be given the compiled form of a script, and Node 20 gives
 * it none of an ES module. A module stays in the place of each, for all that import it. Throws where a chunk cannot be a script.
 */
export async function compiledParts({ outputs }: Metafile): Promise<void> {
  const loader = chunkOf(outputs, ({ entryPoint }) => entryPoint === LOADER, LOADER);
  const core = chunkOf(outputs, ({ inputs }) => (inputs[CORE]?.bytesInOutput ?? 0) > 0, CORE);
  const adapters = Object.keys(outputs).filter((path) => ADAPTER.test(outputs[path]?.entryPoint ?? ''));
  if (adapters.length === 0)
    throw new Error(`No chunk is made of ${ADAPTER}: there is nothing to keep compiled but the core.`);
  await makeScript(core, 'core', outputs, loader);
  for (const path of adapters)
    await makeScript(path, basename(outputs[path]?.entryPoint ?? '', '.ts'), outputs, loader);
}

function chunkOf(outputs: Outputs, isIt: (output: Outputs[string]) => boolean, what: string): string {
  const found = Object.keys(outputs).find((path) => path.endsWith('.js') && isIt(outputs[path] ?? never(path)));
  if (found === undefined) throw new Error(`No chunk holds ${what}: 'compiled parts' cannot keep it compiled.`);
  return found;
}

function never(path: string): never {
  throw new Error(`'${path}' is not an output.`);
}

async function makeScript(path: string, name: string, outputs: Outputs, loader: string): Promise<void> {
  const output = outputs[path] ?? never(path);
  requireConstantExports(path, output);
  const { code, warnings } = await transform(readFileSync(path, 'utf8'), {
    format: 'cjs',
    minify: true,
    platform: 'node',
    target: 'node20.17',
    legalComments: 'none',
    define: { 'import.meta.url': 'url$' },
  });
  if (warnings.length > 0) throw new Error(`${path} cannot be a script: ${warnings.map(({ text }) => text).join(' ')}`);
  const script = `(function(module,require,url$,load$){"use strict";${withLoad(code, path, output)}return module.exports})`;
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const file = `${name}-${hash}.cjs`;
  writeFileSync(join(dirname(path), file), script, 'latin1');
  writeFileSync(path, standIn(file, output, loader));
}

/** The module in the place of the script: it imports and exports what the chunk did. */
function standIn(file: string, { imports, exports }: Outputs[string], loader: string): string {
  const beside = (other: string): string => JSON.stringify(`./${basename(other)}`);
  // Those that `foldLeaves` copied are not there any more.
  const chunks = imports
    .filter(({ kind, path }) => kind === 'import-statement' && existsSync(path))
    .map(({ path }) => path);
  return [
    `import{scripts as scripts$}from${beside(loader)};`,
    ...chunks.map((chunk, place) => `import*as $${place} from${beside(chunk)};`),
    `const{dirname:dirname$,url:url$}=import.meta;`,
    `const all$=scripts$.load(${JSON.stringify(file)},{dirname:dirname$,url:url$,load:name=>import(name),`,
    `imported:{${chunks.map((chunk, place) => `${beside(chunk)}:$${place}`).join(',')}}});`,
    exportsOf(exports),
  ].join('');
}

/** The words that a module may export under, but not call a constant by. */
const RESERVED = new Set(
  `await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in
  instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield`.split(
    /\s+/,
  ),
);

/** Exports the properties of `all$` by these names. esbuild numbers the exports of a chunk in letters, so that `do`, `if` and `in` are among some hundreds. */
export function exportsOf(names: readonly string[]): string {
  const reserved = names.filter((name) => RESERVED.has(name));
  const plain = names.filter((name) => !RESERVED.has(name));
  return [
    `export const{${plain.join(',')}}=all$;\n`,
    ...reserved.map((name) => `const{${name}:${name}$}=all$;export{${name}$ as ${name}};\n`),
  ].join('');
}

/** A script cannot import on demand by itself. */
function withLoad(code: string, path: string, { imports }: Outputs[string]): string {
  const names = imports.filter(({ kind }) => kind === 'dynamic-import').map((each) => basename(each.path));
  const found = new Set<string>();
  const replaced = code.replaceAll(/\bimport\((?="([^"]+)"\))/g, (_all, name) => {
    found.add(basename(name));
    return 'load$(';
  });
  const differing = [
    ...names.filter((name) => !found.has(name)),
    ...[...found].filter((name) => !names.includes(name)),
  ];
  if (differing.length > 0 || /\bimport\((?!['"`])/.test(replaced))
    throw new Error(
      `${path} imports on demand in a way that a script cannot: ${differing.join(', ') || 'by a variable'}.`,
    );
  return replaced;
}

/** The module in the place of a script has what it exports by value. */
function requireConstantExports(path: string, { entryPoint, inputs }: Outputs[string]): void {
  const exporting = entryPoint === undefined ? Object.keys(inputs) : [entryPoint];
  const sources = exporting.filter((input) => /^(?:lib|node_modules)\/.*\.m?[jt]s$/.test(input));
  const changing = sources.filter((input) => /^export (?:let|var) /m.test(readFileSync(input, 'utf8')));
  if (changing.length > 0)
    throw new Error(`${path} exports variables that may change, of ${changing.join(', ')}: a script cannot.`);
}
