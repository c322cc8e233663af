import { rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** The modules that a leaf may contain: modules without state, which may be duplicated. */
const STATELESS = [
  /^node_modules\/ajv\/dist\/runtime\//,
  /^lib\/(?:cli\/base\/version|folder|stop-signals)\.ts$/,
  /^node-imported:/,
];

/**
 * Copies small chunks that all others use into each of these: for a start, opening a file costs more than its contents. `metafile` is that of
 * the finished build, with paths relative to the working folder. Throws when there is nothing to copy.
 */
export async function foldLeaves({ outputs }: Metafile): Promise<void> {
  const paths = Object.keys(outputs).filter((path) => path.endsWith('.js'));
  const leaves = new Set(paths.filter((path) => isLeaf(outputs[path], outputs)).map((path) => resolve(path)));
  if (leaves.size === 0) throw new Error("No chunk is without state: 'fold leaves' has nothing to copy.");
  const { outputFiles } = await build({
    entryPoints: paths.filter((path) => !leaves.has(resolve(path))),
    outdir: 'dist',
    outbase: 'dist',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.17',
    legalComments: 'inline',
    plugins: [onlyFrom(leaves)],
    logLevel: 'warning',
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  for (const path of leaves) rmSync(path);
}

type Outputs = Metafile['outputs'];

function isLeaf(output: Outputs[string] | undefined, outputs: Outputs): boolean {
  if (output === undefined || output.entryPoint !== undefined) return false;
  const isStateless = Object.keys(output.inputs).every((input) => STATELESS.some((pattern) => pattern.test(input)));
  return isStateless && output.imports.every(({ path }) => isLeaf(outputs[path], outputs));
}

/** Leaves every import unchanged except those of `leaves`. */
function onlyFrom(leaves: ReadonlySet<string>): Plugin {
  return {
    name: 'only leaves',
    setup({ onResolve }) {
      onResolve({ filter: /./ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return undefined;
        const target = resolve(dirname(importer), path);
        return leaves.has(target) ? { path: target, sideEffects: false } : { path, external: true };
      });
    },
  };
}
