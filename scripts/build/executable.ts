import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { builtInModules } from './built-in.js';
import { bunFor, ownPlatform, type Platform } from './bun.js';
import { evaluated } from './evaluated.js';
import { forBun } from './for-bun.js';
import { LATE, late, lateName } from './late.js';
import { licencesOf } from './licences.js';
import { validators } from './validators.js';

/** The folder of the executables. */
export const EXECUTABLES = resolve('executables');

/**
 * The factor by which optimising compilation is delayed. Most runs end before it is worthwhile, and the compiler
 * threads take a sixth of their processor time.
 */
const JIT = '--compile-jit-policy=30';

/** What its page on licensing says: https://bun.com/docs/project/licensing. */
const BUN_LICENCE = `Bun (MIT). It contains JavaScriptCore of WebKit (LGPL-2) and other parts under their own licences: https://bun.com/docs/project/licensing\n`;

const ASSETS = ['@silvia-odwyer/photon-node/photon_rs_bg.wasm'];

/** Split, because `scripts/run.js` would replace the whole expression with this script's. */
const meta = (name: string): string => ['import', 'meta', name].join('.');

/**
 * Builds the program as one executable that needs no Node, with precompiled code, and writes its checksum and licence
 * notices next to it. Resolves to its path. Disables Bun's own settings: a folder's `.env` or `bunfig.toml` must not
 * change what `hi` does there.
 */
export async function buildExecutable(platform: Platform): Promise<string> {
  mkdirSync(EXECUTABLES, { recursive: true });
  const name = `hi-${platform}${platform.startsWith('windows') ? '.exe' : ''}`;
  const file = join(EXECUTABLES, name);
  const folder = mkdtempSync(join(tmpdir(), 'hi-executable-'));
  try {
    const inputs = await bundle(folder);
    for (const asset of ASSETS) copyFileSync(join('node_modules', asset), join(folder, basename(asset)));
    const late = LATE.map((file) => `./${lateName(file)}.js`);
    const files = ['./hi.js', ...late, ...ASSETS.map((asset) => `./${basename(asset)}`)];
    const options = ['--compile', '--bytecode', '--format=esm', '--splitting', '--minify', '--target=bun'];
    const alone = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig', '--asset-naming=[name].[ext]'];
    const base = [`--compile-executable-path=${bunFor(platform)}`, `--outfile=${file}`];
    execFileSync(bunFor(ownPlatform()), ['build', ...options, ...alone, JIT, ...base, ...files], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    writeFileSync(join(EXECUTABLES, 'LEGAL.txt'), [BUN_LICENCE, licencesOf(inputs), notices(folder)].join('\n'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(`${file}.sha256`, `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${name}\n`);
  return file;
}

/** The notices in the sources themselves. */
function notices(folder: string): string {
  const files = readdirSync(folder).filter((file) => file.endsWith('.LEGAL.txt'));
  return [...new Set(files.sort().map((file) => readFileSync(join(folder, file), 'utf8')))].join('\n');
}

/**
 * Bundles ES modules, of which a start loads only those it needs: parsing everything as one file takes longer than
 * `--version`. Resolves to the paths of the bundled files.
 */
async function bundle(outdir: string): Promise<readonly string[]> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { metafile } = await build({
    entryPoints: { hi: 'bin/hi-executable.ts', ...Object.fromEntries(LATE.map((file) => [lateName(file), file])) },
    outdir,
    chunkNames: '[name]-[hash]',
    inject: ['scripts/build/executable-places.ts'],
    define: {
      __HI_VERSION__: JSON.stringify(version),
      __dirname: 'executableFolder',
      [meta('dirname')]: 'executableFolder',
      [meta('url')]: 'executableUrl',
    },
    banner: { js: `const{require}=${['import', 'meta'].join('.')};` },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.17',
    external: ['zstd-napi'],
    plugins: [
      late((file) => `lateModule(${JSON.stringify(lateName(file))})`),
      forBun,
      builtInModules,
      evaluated,
      validators,
    ],
    legalComments: 'linked',
    logLevel: 'warning',
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}
