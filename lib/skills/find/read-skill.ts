import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { splitFrontmatter } from './frontmatter.js';

/** The first bytes of a file. Throws what the file system says. Synchronous, for five hundred small reads take ten times as long in the thread pool. */
export function readHead(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.allocUnsafe(length);
    return head.subarray(0, readSync(file, head, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** The text of a skill without its frontmatter. Throws what the file system says. */
export async function readBody(path: string): Promise<string> {
  return splitFrontmatter(asText(await readFile(path)))
    .body.replaceAll('\0', '\uFFFD')
    .trim();
}

/** Bytes as text with lines that end in `\n`; what is not UTF-8 becomes U+FFFD. */
export function asText(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
}
