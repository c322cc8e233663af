import type { Plugin } from 'esbuild';
import { replaced } from './replaced.js';

/**
 * Modules whose exports are plain data derived from heavy modules, such as the registries and a library's table. The
 * program contains only the data.
 */
export const EVALUATED: Readonly<Record<string, () => Promise<object>>> = {
  'lib/config/built.ts': () => import('../../lib/config/built.js'),
  'lib/cli/config-check/config-schema.ts': () => import('../../lib/cli/config-check/config-schema.js'),
  'lib/cli/help-text.ts': () => import('../../lib/cli/help-text.js'),
  'lib/cli/strategy-names.ts': () => import('../../lib/cli/strategy-names.js'),
  'lib/page/page-parts.ts': () => import('../../lib/page/page-parts.js'),
  'lib/recall/words/han-variants.ts': () => import('../../lib/recall/words/han-variants.js'),
  'lib/tools/tool-specs.ts': () => import('../../lib/tools/tool-specs.js'),
};

/** V8 parses large data faster as JSON than as an expression. */
async function dataOf(evaluate: () => Promise<object>): Promise<string> {
  const lines = Object.entries(await evaluate()).map(
    ([name, value]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`,
  );
  return lines.join('\n');
}

/** Replaces some of those modules with their data. */
export const evaluatedIn = (files: readonly string[]): Plugin =>
  replaced(
    'evaluated',
    Object.fromEntries(
      Object.entries(EVALUATED).flatMap(([file, evaluate]) =>
        files.includes(file) ? [[file, () => dataOf(evaluate)]] : [],
      ),
    ),
  );

/** Replaces all of them. */
export const evaluated: Plugin = evaluatedIn(Object.keys(EVALUATED));
