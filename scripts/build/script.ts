import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/** Split, because `scripts/run.js` would replace the whole expression. */
export const MODULE_URL = ['import', 'meta', 'url'].join('.');

export interface Bundle {
  readonly code: string;
  /** The comments in it that must be passed on. */
  readonly notices: string;
  /** The bundled files. */
  readonly inputs: readonly string[];
}

/**
 * Bundles CommonJS code for Node, in which a module that is imported on demand is evaluated when it is first imported.
 */
export async function bundleOf({ define, ...options }: BuildOptions): Promise<Bundle> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { metafile, outputFiles = [] } = await build({
    outfile: 'bundle.cjs',
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.17',
    supported: { 'dynamic-import': false },
    define: { __HI_VERSION__: JSON.stringify(version), [MODULE_URL]: 'url$', ...define },
    legalComments: 'external',
    logLevel: 'warning',
    ...options,
    metafile: true,
    write: false,
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { code: textOf('.cjs'), notices: textOf('.txt'), inputs: Object.keys(metafile.inputs) };
}

/**
 * Writes code as a script that `lib/cli/compiled` runs, and returns the name of its file: with a hash of its content,
 * because V8's compiled form of a script is of this one only.
 */
export function writeScript(folder: string, name: string, code: string): string {
  const script = `(function(module,exports,require,__dirname,url$){"use strict";${inAscii(code)}\nreturn module.exports})`;
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const file = `${name}-${hash}.cjs`;
  writeFileSync(join(folder, file), script, 'latin1');
  return file;
}

/**
 * Code without characters that take more than a byte, which esbuild leaves in regular expressions: V8 reads such a
 * script faster.
 */
export function inAscii(code: string): string {
  return code.replace(/(\\*)([\u0080-\uffff])/g, (_all, slashes: string, character: string) => {
    // A character that is escaped needs no escape any more.
    const before = slashes.slice(slashes.length % 2);
    return `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
