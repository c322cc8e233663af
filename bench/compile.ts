import { existsSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/**
 * Bundles a TypeScript file into a folder, minified and split like `hi`, and links the packages there. Resolves to the
 * program's path.
 */
export async function compile(entry: string, folder: string, options: BuildOptions = {}): Promise<string> {
  const name = basename(entry, '.ts');
  await build({
    entryPoints: { [name]: entry },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.17',
    external: ['zstd-napi'],
    logLevel: 'error',
    ...options,
  });
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) symlinkSync(join(process.cwd(), 'node_modules'), modules);
  return join(folder, `${name}.mjs`);
}
