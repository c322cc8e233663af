import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { MANUAL } from '../../lib/cli/manual.js';
import { compiledParts } from './compiled-parts.js';
import { EVALUATED, evaluated } from './evaluated.js';
import { foldLeaves } from './fold-leaves.js';
import { licencesOf } from './licences.js';
import { nodeModules } from './node-modules.js';
import { oneCore } from './one-core.js';
import { onlyCalled } from './only-called.js';
import { removeBuildOnly } from './remove-build-only.js';
import { validators } from './validators.js';

/** The `require` for CommonJS dependencies in an ES module bundle. They require only Node's own modules. */
const REQUIRE = `const require=name=>{const found=process.getBuiltinModule(name);if(found)return found;throw new Error("Cannot find module '"+name+"'")};`;

/** Files that are read from the folder of the chunk that needs them. */
const WEBASSEMBLY = ['@bokuweb/zstd-wasm/dist/common/zstd.wasm', '@silvia-odwyer/photon-node/photon_rs_bg.wasm'];

/** The folder of a chunk. Split, because `scripts/run.js` would replace the whole expression with this script's folder. */
const HERE = ['import.meta', 'dirname'].join('.');

/**
 * Builds the program into `dist`: one minified ES module bundle with code splitting, so that each command, vendor SDK and rare feature is a separate
 * chunk that is read only when it is needed. Throws when something it relies on no longer exists.
 */
export async function buildProgram(): Promise<void> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  rmSync('dist', { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: { hi: 'bin/hi.ts' },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    define: { __HI_VERSION__: JSON.stringify(version), __dirname: HERE },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.17',
    external: ['zstd-napi'],
    plugins: [nodeModules, onlyCalled, evaluated, validators, oneCore(Object.keys(EVALUATED))],
    banner: { js: REQUIRE },
    legalComments: 'linked',
    logLevel: 'warning',
    metafile: true,
  });
  writeFileSync('dist/LEGAL.txt', licencesOf(Object.keys(metafile.inputs)));
  await foldLeaves(metafile);
  await compiledParts(metafile);
  removeBuildOnly(metafile);
  for (const path of WEBASSEMBLY) copyFileSync(`node_modules/${path}`, `dist/chunks/${basename(path)}`);
  chmodSync('dist/hi.js', 0o755);
  writeFileSync('dist/hi.1', MANUAL);
}
