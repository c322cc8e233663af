import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { splitFrontmatter } from './frontmatter.js';

/** The first bytes of a file. Throws file system errors. Synchronous: five hundred small reads take ten times as long in the thread pool. */
export function readHead(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.allocUnsafe(length);
    return head.subarray(0, readSync(file, head, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** The text of a skill without its frontmatter. Throws file system errors. */
export async function readBody(path: string): Promise<string> {
  return splitFrontmatter(asText(await readFile(path)))
    .body.replaceAll('\0', '\uFFFD')
    .trim();
}

/** Decodes UTF-8 and normalises line endings to `\n`; invalid bytes become U+FFFD. */
export function asText(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
}
