import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** Modules that do the same faster with Bun's own functions. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  'lib/http/send.ts': 'lib/http/send-with-bun.ts',
  'lib/time-zone/time-zone.ts': 'lib/time-zone/time-zone-of-bun.ts',
  'lib/history/file/zstd-addon.ts': 'lib/history/file/zstd-of-bun.ts',
};

/**
 * Replaces modules for Node with substitutes for Bun, which may import the originals. The build fails when the program
 * does not import one of these.
 */
export const forBun: Plugin = {
  name: 'for Bun',
  setup({ onResolve, onEnd }) {
    const left = new Set(Object.keys(SUBSTITUTES).map((file) => resolve(file)));
    const substitutes = new Map(Object.entries(SUBSTITUTES).map(([file, other]) => [resolve(file), resolve(other)]));
    onResolve({ filter: /^\..*\.js$/ }, ({ path, importer, resolveDir }) => {
      const file = resolve(resolveDir, path.replace(/\.js$/, '.ts'));
      const substitute = substitutes.get(file);
      if (substitute === undefined || importer === substitute) return undefined;
      if (!existsSync(substitute)) return { errors: [{ text: `There is no ${substitute}.` }] };
      left.delete(file);
      return { path: substitute };
    });
    onEnd(() => ({
      errors: [...left].map((file) => ({ text: `The program does not import ${file}, which is replaced for Bun.` })),
    }));
  },
};
