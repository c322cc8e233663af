import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** The minified style of the page. The build evaluates this module, so that the program contains only the texts. */
export const STYLE = minified('page.css');

/** The script of the page. */
export const SCRIPT = minified('page.ts');

/**
 * The page may only show its own content and run this one script. It cannot fetch, frame or send anything, whatever a
 * message contains.
 */
export const POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src '${digest(STYLE)}'`,
  `script-src '${digest(SCRIPT)}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function minified(file: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(import.meta.dirname, 'browser', file)],
    bundle: true,
    minify: true,
    charset: 'ascii',
    format: 'iife',
    target: 'chrome123',
    tsconfigRaw: '{}',
    write: false,
  });
  return outputFiles[0]?.text.trim() ?? '';
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
