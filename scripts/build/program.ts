import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MANUAL } from '../../lib/cli/manual.js';
import { builtInModules } from './built-in.js';
import { EVALUATED, evaluatedIn } from './evaluated.js';
import { late } from './late.js';
import { licencesOf } from './licences.js';
import { PackagesApart } from './packages-apart.js';
import { replaced } from './replaced.js';
import { type Bundle, bundleOf, MODULE_URL, writeScript } from './script.js';
import { validators } from './validators.js';

const SCRIPTS = 'dist/scripts';

/** Files that packages read from the folder of their script. */
const WEBASSEMBLY = ['@bokuweb/zstd-wasm/dist/common/zstd.wasm', '@silvia-odwyer/photon-node/photon_rs_bg.wasm'];

/** What `hi.js` answers by itself. */
const HELP = 'lib/cli/help-text.ts';

/** What `hi.js` takes from the program's script. */
const TAKEN = { 'lib/cli/run.ts': 'run', 'lib/cli/compiled/keep-scripts.ts': 'keepScripts' };

/** The module of a worker thread, which is a program of its own. */
const THREAD = 'lib/session/images/scaling-thread.ts';
const THREAD_FILE = 'scaling-thread.cjs';

/**
 * Builds the program into `dist`: `hi.js`, which answers `--version` and `--help` and starts the rest; a script with
 * all of our code; and one for each package that not every run needs. V8 accepts its compiled form of a script on every
 * Node, that of an ES module only from Node 22 on, and a script is read and run at once, while each ES module takes
 * several rounds through Node's loader and its threads. Throws when something it relies on no longer exists.
 */
export async function buildProgram(): Promise<void> {
  rmSync('dist', { recursive: true, force: true });
  mkdirSync(SCRIPTS, { recursive: true });
  const apart = new PackagesApart();
  const bundles: Record<string, Bundle> = { program: await bundleOfProgram(apart) };
  Object.assign(bundles, await apart.bundles());
  const files = Object.entries(bundles).map(([name, { code }]) => [name, writeScript(SCRIPTS, fileName(name), code)]);
  const starter = await bundleOfStarter(Object.fromEntries(files));
  const thread = await bundleOf({ entryPoints: [THREAD], define: { [MODULE_URL]: '__filename' } });
  writeFileSync(join(SCRIPTS, THREAD_FILE), thread.code);
  writeFileSync('dist/hi.js', starter.code);
  chmodSync('dist/hi.js', 0o755);
  writeFileSync('dist/package.json', '{"type":"commonjs"}\n');
  for (const path of WEBASSEMBLY) copyFileSync(`node_modules/${path}`, join(SCRIPTS, basename(path)));
  const all = [starter, thread, ...Object.values(bundles)];
  const notices = new Set(all.map((bundle) => bundle.notices));
  writeFileSync('dist/LEGAL.txt', [licencesOf(all.flatMap(({ inputs }) => inputs)), ...notices].join('\n'));
  writeFileSync('dist/hi.1', MANUAL);
}

/** All of our code. */
async function bundleOfProgram(apart: PackagesApart): Promise<Bundle> {
  const evaluated = evaluatedIn(Object.keys(EVALUATED).filter((file) => file !== HELP));
  const thread = () => `export const THREAD = new URL(${JSON.stringify(THREAD_FILE)}, ${MODULE_URL}).href;`;
  const exported = Object.entries(TAKEN).map(([file, name]) => `export { ${name} } from './${file}';`);
  return await bundleOf({
    stdin: { contents: exported.join('\n'), resolveDir: '.', loader: 'ts' },
    plugins: [late(), builtInModules, evaluated, validators, apart.plugin, replaced('thread', { [THREAD]: thread })],
  });
}

/** `hi.js`, which knows the file of each script. */
async function bundleOfStarter(files: Readonly<Record<string, string>>): Promise<Bundle> {
  const taken = Object.entries(TAKEN).map(([file, name]) => {
    const contents = `import { scripts } from './lib/cli/compiled/scripts.js'; export const { ${name} } = scripts.get('program');`;
    return [file, () => contents] as const;
  });
  return await bundleOf({
    entryPoints: ['bin/hi.ts'],
    define: { __HI_SCRIPTS__: 'scripts$' },
    banner: { js: `"use strict";const scripts$={folder:__dirname+"/scripts",files:${JSON.stringify(files)}};` },
    plugins: [builtInModules, evaluatedIn([HELP]), replaced("the program's script", Object.fromEntries(taken))],
  });
}

/** The name of a script without what the name of a file cannot have. */
function fileName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z]+/g, '-')
    .replace(/^-|-$/g, '');
}
