// Runs one of these scripts: `node scripts/run.js build`. They are TypeScript, which Node 20 cannot run, so esbuild bundles a script with its
// imports from `lib`, `bench` and `spec`. This file is the only one in JavaScript.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
// The scripts' paths are relative to this folder. `npm run` sets it anyway.
process.chdir(root);

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [name = ''] = process.argv.splice(2, 1);
// Inside `node_modules`, so that packages are found and other tools ignore it.
const outfile = join(root, 'node_modules', `.hi-${name}-${process.pid}.mjs`);
process.once('exit', () => rmSync(outfile, { force: true }));

await build({
  entryPoints: [join('scripts', `${name}.ts`)],
  outfile,
  bundle: true,
  format: 'esm',
  target: 'node20.17',
  platform: 'node',
  packages: 'external',
  sourcemap: 'inline',
  define: { __HI_VERSION__: JSON.stringify(version) },
  logLevel: 'warning',
  plugins: [
    {
      name: 'own folder',
      setup({ onLoad }) {
        onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
          const own = JSON.stringify(dirname(path));
          return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', own), loader: 'ts' };
        });
      },
    },
  ],
});
await import(pathToFileURL(outfile).href);
