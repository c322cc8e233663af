import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** The style of the page, made small. The build evaluates this module: the program has the texts. */
export const STYLE = minified('page.css');

/** What runs in the page. */
export const SCRIPT = minified('page.ts');

/** What the page may do: show what is in it and run this one script. Nothing is fetched, framed or sent, whatever a message holds. */
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
