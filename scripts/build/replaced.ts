import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Replaces modules with JavaScript generated at build time. The build fails when the program does not import one of
 * them.
 */
export function replaced(name: string, modules: Readonly<Record<string, () => string | Promise<string>>>): Plugin {
  return {
    name,
    setup({ onLoad, onEnd }) {
      const left = new Map(Object.entries(modules).map(([file, make]) => [resolve(file), make]));
      const makers = new Map(left);
      onLoad({ filter: /[\\/]lib[\\/].*\.ts$/ }, async ({ path }) => {
        const make = makers.get(path);
        if (make === undefined) return undefined;
        left.delete(path);
        return { contents: await make(), loader: 'js', resolveDir: resolve('.') };
      });
      onEnd(() => ({
        errors: [...left.keys()].map((path) => ({
          text: `The program does not import ${path}, which the build replaces.`,
        })),
      }));
    },
  };
}
