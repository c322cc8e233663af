import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile, transform } from 'esbuild';
import { CORE } from './one-core.js';

/** The module that runs the scripts and keeps them compiled. */
const LOADER = 'lib/cli/compiled/scripts.ts';

const ADAPTER = /^lib\/providers\/.*-adapter\.ts$/;

/** The module that a chat begins with. It imports some thirty chunks. */
const CHAT = 'lib/cli/commands/chat-command.ts';

/** What `hi.js` itself imports before the core, or in its place. */
const EARLY = ['node_modules/env-paths/index.js', 'lib/cli/help-text.ts'];

/** What each question in a conversation of more than 200 messages imports. */
const ASKED = 'lib/recall/asked.ts';

const PROGRAM = 'dist/hi.js';

/** The global under which modules that cannot import `LOADER` find it. */
const SCRIPTS = 'globalThis[Symbol.for("hi.scripts")]';

/** The scripts for a worker thread, which has its own globals. */
const FOR_THREADS = 'scripts.cjs';

type Outputs = Metafile['outputs'];

/**
 * Converts the chunks that a question to a model needs to scripts: the core, the adapters, the chat, and all that these import. V8 accepts the compiled form
 * of a script, but Node 20 cannot provide it for an ES module. A script is also read and run at once, while each ES module takes several rounds through
 * Node's loader and its threads. A module replaces each chunk for its importers. Throws if a chunk cannot be a script.
 */
export async function compiledParts({ outputs }: Metafile): Promise<void> {
  const core = chunkOf(outputs, ({ inputs }) => (inputs[CORE]?.bytesInOutput ?? 0) > 0, CORE);
  const adapters = Object.keys(outputs).filter((path) => ADAPTER.test(outputs[path]?.entryPoint ?? ''));
  if (adapters.length === 0)
    throw new Error(`No chunk comes from ${ADAPTER}, so only the core could be kept compiled.`);
  const chat = chunkOf(outputs, ({ entryPoint }) => entryPoint === CHAT, CHAT);
  const early = EARLY.map((file) => chunkOf(outputs, ({ entryPoint }) => entryPoint === file, file));
  const asked = chunkOf(outputs, ({ entryPoint }) => entryPoint === ASKED, ASKED);
  const first = [core, chat, asked, ...adapters, ...early];
  const files: Record<string, string> = {};
  for (const path of new Set([...first, ...first.flatMap((path) => [...reached(path, outputs)])]))
    files[`./${basename(path)}`] = await makeScript(path, nameOf(path, core, outputs), outputs);
  await startWithParts(files, core, early, outputs);
  await writeForThreads(files);
}

/** The chunks that a chunk imports, directly or not. */
function reached(path: string, outputs: Outputs, found = new Set<string>()): ReadonlySet<string> {
  for (const other of imported(outputs[path] ?? never(path)))
    if (!found.has(other)) reached(other, outputs, found.add(other));
  return found;
}

/** The imported chunks, without those that `foldLeaves` copied, which no longer exist. */
const imported = ({ imports }: Outputs[string]): readonly string[] =>
  imports.filter(({ kind, path }) => kind === 'import-statement' && existsSync(path)).map(({ path }) => path);

function nameOf(path: string, core: string, outputs: Outputs): string {
  const { entryPoint } = outputs[path] ?? never(path);
  return path === core ? 'core' : entryPoint === undefined ? 'shared' : basename(path).replace(/-\w+\.js$/, '');
}

/**
 * Lets `hi.js` take `run` directly from the core, and makes it CommonJS: Node's loader of ES modules takes an empty program a quarter longer, and nothing that
 * most runs need is an ES module any more.
 */
async function startWithParts(
  files: Readonly<Record<string, string>>,
  core: string,
  early: readonly string[],
  outputs: Outputs,
): Promise<void> {
  const run = chunkOf(outputs, ({ entryPoint }) => entryPoint === CORE, CORE);
  const code = readFileSync(run, 'utf8');
  const [, exported, from] = /^import\{(\S+) as [\w$]+\}from"([^"]+)";export\{[\w$]+ as run\};?\s*$/.exec(code) ?? [];
  if (from !== `./${basename(core)}`) throw new Error(`${run} does more than export 'run' of the core: ${code}`);
  const taken = early.map((path) => [path, `parts$().get("./${basename(path)}")`] as const);
  const program = [[run, `{run:parts$().get("${from}").${exported}}`] as const, ...taken].reduce(
    (text, [path, value]) => withValue(text, path, value),
    readFileSync(PROGRAM, 'utf8'),
  );
  const url = 'process.getBuiltinModule("url").pathToFileURL(__dirname).href+"/chunks/"';
  const load = 'name=>import(name.startsWith("./")?"./chunks/"+name:name)';
  const parts = `function parts$(){return ${SCRIPTS}.use({folder:__dirname+"/chunks/",url:${url},files:${JSON.stringify(files)},load:${load}})}`;
  const options = { banner: '"use strict";', minify: true, platform: 'node', target: 'node20.17' } as const;
  writeFileSync(PROGRAM, (await transform(program + parts, options)).code);
  writeFileSync(join(dirname(PROGRAM), 'package.json'), '{"type":"commonjs"}\n');
  writeFileSync(join(dirname(core), 'package.json'), '{"type":"module"}\n');
}

/** The program with a value in place of what it imports on demand. */
function withValue(program: string, path: string, value: string): string {
  const pieces = program.split(`import("./chunks/${basename(path)}")`);
  if (pieces.length !== 2) throw new Error(`${PROGRAM} does not import ${path} once, on demand.`);
  return pieces.join(`Promise.resolve(${value})`);
}

async function writeForThreads(files: Readonly<Record<string, string>>): Promise<void> {
  const url = 'require("node:url").pathToFileURL(__dirname).href+"/"';
  await build({
    entryPoints: [LOADER],
    outfile: `dist/chunks/${FOR_THREADS}`,
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.17',
    footer: {
      js: `${SCRIPTS}.use({folder:__dirname+"/",url:${url},files:${JSON.stringify(files)},load:name=>import(name)});`,
    },
  });
}

function chunkOf(outputs: Outputs, isIt: (output: Outputs[string]) => boolean, what: string): string {
  const found = Object.keys(outputs).find((path) => path.endsWith('.js') && isIt(outputs[path] ?? never(path)));
  if (found === undefined) throw new Error(`No chunk contains ${what}: 'compiled parts' cannot keep it compiled.`);
  return found;
}

function never(path: string): never {
  throw new Error(`'${path}' is not an output.`);
}

/** Returns the name of its file. */
async function makeScript(path: string, name: string, outputs: Outputs): Promise<string> {
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
  const body = inAscii(withLoad(code, path, output));
  const script = `(function(module,require,url$,load$){"use strict";${body}return module.exports})`;
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const file = `${name}-${hash}.cjs`;
  writeFileSync(join(dirname(path), file), script, 'latin1');
  writeFileSync(path, standIn(path, output));
  return file;
}

/** Code without characters that take more than a byte, which esbuild leaves in regular expressions: V8 reads such a script faster. */
export function inAscii(code: string): string {
  return code.replace(/(\\*)([\u0080-\uffff])/g, (_all, slashes: string, character: string) => {
    // A character that is escaped needs no escape any more.
    const before = slashes.slice(slashes.length % 2);
    return `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The module that replaces the chunk: it has the same exports. */
function standIn(path: string, { exports }: Outputs[string]): string {
  const forThread = `process.getBuiltinModule("module").createRequire(import.meta.url)("./${FOR_THREADS}").scripts`;
  return `const all$=(${SCRIPTS}??${forThread}).get("./${basename(path)}");${exportsOf(exports)}`;
}

/** Reserved words: names for exports, but not for constants. */
const RESERVED = new Set(
  `await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in
  instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield`.split(
    /\s+/,
  ),
);

/** Exports the properties of `all$` by these names. esbuild numbers the exports of a chunk in letters, and `do`, `if` and `in` occur among several hundred. */
export function exportsOf(names: readonly string[]): string {
  const reserved = names.filter((name) => RESERVED.has(name));
  const plain = names.filter((name) => !RESERVED.has(name));
  return [
    `export const{${plain.join(',')}}=all$;\n`,
    ...reserved.map((name) => `const{${name}:${name}$}=all$;export{${name}$ as ${name}};\n`),
  ].join('');
}

/** Replaces dynamic imports, which a script cannot do itself. */
function withLoad(code: string, path: string, { imports }: Outputs[string]): string {
  const onDemand = imports.filter(({ kind }) => kind === 'dynamic-import');
  const external = onDemand.filter((each) => each.external).map((each) => each.path);
  if (external.length > 0)
    throw new Error(
      `${path} imports ${external.join(', ')} on demand: use process.getBuiltinModule, as a script must.`,
    );
  const names = onDemand.map((each) => basename(each.path));
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

/** Throws if an exported variable changes, because the replacing module exports values. */
function requireConstantExports(path: string, { entryPoint, inputs }: Outputs[string]): void {
  const exporting = entryPoint === undefined ? Object.keys(inputs) : [entryPoint];
  const sources = exporting.filter((input) => /^(?:lib|node_modules)\/.*\.m?[jt]s$/.test(input));
  const changing = sources.filter((input) => /^export (?:let|var) /m.test(readFileSync(input, 'utf8')));
  if (changing.length > 0)
    throw new Error(`${path} exports variables that may change, of ${changing.join(', ')}: a script cannot.`);
}
