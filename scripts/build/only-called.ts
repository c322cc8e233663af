import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/**
 * The parts of the SDKs that the adapters call. A client creates an object for every part of its vendor's API, so no bundler can tell which are used, and
 * compiling all of them takes longer than a request. The bundle contains empty classes for the others.
 */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  openai: ['chat', 'models', 'responses', 'shared', 'index'],
  '@anthropic-ai/sdk': ['messages', 'models', 'shared', 'index'],
};

/** Removes the parts of SDKs that no adapter calls. The build fails when an SDK no longer has the parts named here. */
export const onlyCalled: Plugin = {
  name: 'only called',
  setup({ onLoad, onEnd }) {
    const found = new Set<string>();
    for (const [sdk, parts] of Object.entries(CALLED)) {
      const folder = resolve('node_modules', sdk);
      const filter = sdkFilter(sdk);
      onLoad({ filter }, async ({ path }) => {
        const [, part = ''] = /^resources\/([^./]+)[./]/.exec(relative(folder, path).replaceAll(sep, '/')) ?? [];
        found.add(`${sdk} ${part}`);
        if (parts.includes(part)) return undefined;
        found.add(`${sdk} emptied`);
        return { contents: await emptied(path, join(folder, 'core', 'error.mjs')), loader: 'js', resolveDir: folder };
      });
    }
    onEnd(() => {
      const wanted = Object.entries(CALLED).flatMap(([sdk, parts]) =>
        [...parts, 'emptied'].map((part) => `${sdk} ${part}`),
      );
      const missing = wanted.filter((part) => !found.has(part));
      return {
        errors: missing.map((part) => ({
          text: `'${part}' of scripts/build/only-called.ts is no longer in the SDK.`,
        })),
      };
    });
  },
};

/** The files of an SDK that may be removed. Paths are as the system writes them. */
function sdkFilter(sdk: string): RegExp {
  const path = `/node_modules/${sdk}/(?:resources/.*|lib/.*(?:Stream|Runner|Accumulator))\\.mjs$`;
  return new RegExp(path.replaceAll('/', '[\\\\/]'));
}

/** The same names as empty classes. Error classes keep their base class, because errors are recognised by it. */
async function emptied(path: string, errorsPath: string): Promise<string> {
  const [exported, errors]: readonly Readonly<Record<string, unknown>>[] = await Promise.all([
    import(pathToFileURL(path).href),
    import(pathToFileURL(errorsPath).href),
  ]);
  const lines = Object.entries(exported ?? {}).map(([name, value]) => {
    const base = baseOfError(value);
    if (base !== null && !(base in (errors ?? {})))
      throw new Error(`${path}: ${name} extends ${base}, which is not in core/error.mjs.`);
    return `export class ${name} ${base === null ? '' : `extends errors.${base} `}{}`;
  });
  return [`import * as errors from ${JSON.stringify(errorsPath)};`, ...lines].join('\n');
}

function baseOfError(value: unknown): string | null {
  if (typeof value !== 'function' || !(value.prototype instanceof Error)) return null;
  return Object.getPrototypeOf(value).name;
}
