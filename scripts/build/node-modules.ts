import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Importing one of Node's modules builds a facade that touches every export, and `fs` loads its streams for that. This loads only the exports in use.
 * Each importer gets its own copy, because a shared one would become a separate chunk.
 */
export const nodeModules: Plugin = {
  name: "Node's own modules",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?[a-z_/0-9]+$/ }, ({ path, kind, importer }) => {
      const name = path.replace(/^node:/, '');
      if (!builtinModules.includes(name) || kind === 'dynamic-import') return undefined;
      const namespace = kind === 'require-call' ? 'node-required' : 'node-imported';
      return { path: name, namespace, suffix: `?${importer}`, sideEffects: false };
    });
    onLoad({ filter: /.*/, namespace: 'node-required' }, ({ path }) => ({
      contents: `module.exports = ${taken(path)};`,
    }));
    onLoad({ filter: /.*/, namespace: 'node-imported' }, ({ path }) => ({ contents: imported(path) }));
  },
};

function imported(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
    (key) => /^[A-Za-z]\w*$/.test(key) && key !== 'default',
  );
  const lines = names.map(
    (key) => `const its_${key} = /* @__PURE__ */ (() => node.${key})(); export { its_${key} as ${key} };`,
  );
  return [`const node = ${taken(name)};`, 'export default node;', ...lines].join('\n');
}

function taken(name: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)})`;
}
