import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const banner = "import{createRequire as hiRequire}from'node:module';const require=hiRequire(import.meta.url);";

/** Bundles a program of the specs into a file that Node 20 can run, and resolves to that file. */
export async function bundle(entry: string): Promise<string> {
  const root = resolve(import.meta.dirname, '../..');
  const folder = mkdtempSync(join(tmpdir(), 'hi-bundle-'));
  // What is not bundled is found from here.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await build({
    absWorkingDir: root,
    entryPoints: { program: entry },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.17',
    external: ['zstd-napi'],
    banner: { js: banner },
    logLevel: 'error',
  });
  return join(folder, 'program.mjs');
}
