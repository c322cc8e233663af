import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/**
 * The modules of Node that every run uses. The others are loaded when something of theirs is first used: most runs need
 * few of them.
 */
const USED_BY_ALL = ['node:fs', 'node:path'];

/** Lets our modules import those of Node statically, and load them by the first use. */
export const builtInModules: Plugin = {
  name: "Node's modules",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind, importer }) => {
      if (kind !== 'import-statement' || USED_BY_ALL.includes(path)) return undefined;
      const names = namesIn(importer, path);
      return names === null ? undefined : { path: `${path} ${names}`, namespace: 'built-in' };
    });
    onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => {
      const [module = '', names = ''] = path.split(' ');
      return { contents: standIn(module, names.split(',').filter(Boolean)), loader: 'js' };
    });
  },
};

/**
 * The names that a file imports from a module, `default` included; null for a package that imports all of it. Throws
 * for a file of our own that does.
 */
function namesIn(file: string, module: string): string | null {
  const code = readFileSync(file, 'utf8');
  const clauses = [...code.matchAll(/^import (?!type )([^;']*) from '([^']*)'/gm)].filter(
    ([, , from]) => from === module,
  );
  if (clauses.some(([, clause]) => clause?.includes('*'))) {
    if (file.includes('/node_modules/')) return null;
    throw new Error(`'${file}' imports all of ${module}, which could not wait: name what it uses.`);
  }
  const names = clauses.flatMap(([, clause = '']) => {
    const [, list = ''] = /\{([^}]*)\}/.exec(clause) ?? [];
    const named = list.split(',').map((one) => one.trim());
    return [
      ...(clause.startsWith('{') ? [] : ['default']),
      ...named.filter((one) => one !== '' && !one.startsWith('type ')).map((one) => one.replace(/ as .*/, '')),
    ];
  });
  return [...new Set(names)].join(',');
}

/** CommonJS code that exports these of a module as getters. The default export stands for the whole module. */
function standIn(module: string, names: readonly string[]): string {
  const find = `let found; const find = () => (found ??= require('${module}'));`;
  if (names.includes('default'))
    return `${find} module.exports = new Proxy({}, { get: (_all, name) => (name === '__esModule' ? undefined : find()[name]), has: (_all, name) => name in find() });`;
  const getters = names.map((name) => `get ${name}() { return find().${name}; }`);
  return `${find} module.exports = { ${getters.join(', ')} };`;
}
