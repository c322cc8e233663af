import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';
import { type Bundle, bundleOf } from './script.js';

/** The small packages that a start needs. They stay part of our own script. */
const SMALL = ['chalk', 'env-paths', 'eventsource-parser', 'fast-string-truncated-width', 'fastest-levenshtein'];

/** Packages that recognise objects of each other by their classes, which must exist once: they share a script. */
const TOGETHER = [/^ajv(?:-formats)?(?:\/|$)/, /^@inquirer\//];

/** The packages that our code imports, each apart from it in a script of its own: only who needs one reads it. */
export class PackagesApart {
  /** What each package exports, by the name that our code imports it by. */
  readonly #exports = new Map<string, readonly string[]>();

  /** Lets our modules take these packages from their scripts. */
  readonly plugin: Plugin = {
    name: 'packages apart',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^[^./]/ }, ({ path, importer, namespace, kind }) => {
        if (namespace === 'apart') return { path, external: true };
        const isOurs = !/[\\/]node_modules[\\/]/.test(importer);
        if (!isOurs || !/import/.test(kind) || isBuiltIn(path) || SMALL.includes(path)) return undefined;
        return { path, namespace: 'apart' };
      });
      onLoad({ filter: /.*/, namespace: 'apart' }, async ({ path }) => {
        const names = Object.keys(await import(path)).filter((name) => /^\w+$/.test(name));
        this.#exports.set(path, names);
        return { contents: standIn(path, names) };
      });
    },
  };

  /** Each script, by the name that `require` gets in a stand-in. To be called when our code is bundled. */
  async bundles(): Promise<Readonly<Record<string, Bundle>>> {
    const paths = [...this.#exports.keys()];
    const scripts = [...new Set(paths.map(scriptOf))].map(async (script) => {
      const members = paths.filter((path) => scriptOf(path) === script);
      const contents = members.map((path) => taken(path, this.#exports.get(path) ?? [])).join('\n');
      return [script, await bundleOf({ stdin: { contents, resolveDir: '.', loader: 'js' } })] as const;
    });
    return Object.fromEntries(await Promise.all(scripts));
  }
}

function isBuiltIn(path: string): boolean {
  return builtinModules.includes(path.replace(/^node:/, ''));
}

/** The script that a package is in: the first word of those that are together. */
function scriptOf(path: string): string {
  return TOGETHER.some((group) => group.test(path)) ? path.replace(/^@/, '').replace(/\W.*$/, '') : path;
}

/** An ES module with the exports of the package, as Node's own `import` finds them. */
function standIn(path: string, names: readonly string[]): string {
  const lines = names.map(
    (name, place) => `const its${place} = /* @__PURE__ */ (() => all.${name})(); export { its${place} as ${name} };`,
  );
  return [`const all = require(${JSON.stringify(scriptOf(path))})[${JSON.stringify(path)}];`, ...lines].join('\n');
}

/** Exports what a package exports, under its name. */
function taken(path: string, names: readonly string[]): string {
  const own = path.replace(/\W/g, '_');
  const imported = names.map((name) => `${name} as ${own}_${name}`).join(', ');
  const exported = names.map((name) => `${name}: ${own}_${name}`).join(', ');
  return `import { ${imported} } from ${JSON.stringify(path)};\nexports[${JSON.stringify(path)}] = { ${exported} };`;
}
