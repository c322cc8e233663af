import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { bunFor, ownPlatform, type Platform } from './bun.js';
import { evaluated } from './evaluated.js';
import { onlyCalled } from './only-called.js';
import { validators } from './validators.js';

/** Where the executables are. */
export const EXECUTABLES = resolve('executables');

const ASSETS = ['@silvia-odwyer/photon-node/photon_rs_bg.wasm'];

/** In one piece `scripts/run.js` would take it for the folder of this script. */
const meta = (name: string): string => ['import', 'meta', name].join('.');

/**
 * Builds the program as one executable that needs no Node, with its code compiled ahead, and writes its checksum and notices beside it. Resolves to its path.
 * Bun's own settings stay outside: a folder's `.env` or `bunfig.toml` must not change what `hi` does there.
 */
export async function buildExecutable(platform: Platform): Promise<string> {
  mkdirSync(EXECUTABLES, { recursive: true });
  const name = `hi-${platform}${platform.startsWith('windows') ? '.exe' : ''}`;
  const file = join(EXECUTABLES, name);
  const folder = mkdtempSync(join(tmpdir(), 'hi-executable-'));
  try {
    await bundle(join(folder, 'hi.cjs'));
    for (const asset of ASSETS) copyFileSync(join('node_modules', asset), join(folder, basename(asset)));
    const inputs = ['./hi.cjs', ...ASSETS.map((asset) => `./${basename(asset)}`)];
    const options = ['--compile', '--bytecode', '--minify', '--target=bun', '--asset-naming=[name].[ext]'];
    const alone = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'];
    const base = [`--compile-executable-path=${bunFor(platform)}`, `--outfile=${file}`];
    execFileSync(bunFor(ownPlatform()), ['build', ...options, ...alone, ...base, ...inputs], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    copyFileSync(join(folder, 'hi.cjs.LEGAL.txt'), join(EXECUTABLES, 'LEGAL.txt'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(`${file}.sha256`, `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${name}\n`);
  return file;
}

/** One CommonJS file: Bun compiles ahead only what has no `await` at its top. */
async function bundle(outfile: string): Promise<void> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  await build({
    entryPoints: ['bin/hi-executable.ts'],
    outfile,
    define: {
      __HI_VERSION__: JSON.stringify(version),
      __dirname: '__folder',
      [meta('dirname')]: '__folder',
      [meta('url')]: '__location',
    },
    // Bun puts the names of this machine's files for `__filename` and `__dirname`; what it embeds is beside `Bun.main`.
    banner: {
      js: "const {main:__main}=globalThis.Bun,__location=require('node:url').pathToFileURL(__main).href,__folder=require('node:path').dirname(__main);",
    },
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.17',
    external: ['zstd-napi'],
    plugins: [onlyCalled, evaluated, validators],
    legalComments: 'linked',
    logLevel: 'warning',
  });
}
