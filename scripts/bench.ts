// Measures what the issues of speed promise and prints it; `--only PART` for one part, `--write` for docs/performance.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
await import('./build.js');
// Beside the sources, so that packages that are not bundled are found.
const folder = mkdtempSync(join(root, '.bench-'));
try {
  await build({
    entryPoints: ['bench/index.ts'],
    outfile: join(folder, 'bench.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
  });
  const { main } = await import(pathToFileURL(join(folder, 'bench.mjs')).href);
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
