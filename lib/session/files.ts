import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { fileFormat } from '../chat/file-format.js';
import { HiError, systemCode } from '../errors.js';
import type { Attachment } from './deps.js';

/** A file of the user's as it goes to the model: words, or a file of its own. */
export type FileInput = { readonly text: string } | { readonly attachment: Attachment };

/** Vendors take files of up to about this size. */
const LARGEST = 20 * 1024 * 1024;

/**
 * Reads a file that the user attached: text, image or PDF, told apart by their first bytes; a text stands in a block that names it.
 * A pipe is read to its end. Throws a `HiError` of code `usage` naming the path when it is not there, cannot be read, is too large, or is binary.
 */
export async function readFileInput(path: string, cwd: string): Promise<FileInput> {
  const input = inputFrom(await read(path, cwd), path);
  return 'text' in input ? { text: asBlock(path, input.text) } : input;
}

/** What the bytes are: text, or an image or PDF with this name. Throws a `HiError` of code `usage` for other binary content. */
export function inputFrom(bytes: Buffer, path: string): FileInput {
  const name = basename(path);
  const mime = fileFormat(bytes)?.mime ?? null;
  if (mime === 'application/pdf') return { attachment: { kind: 'document', mime, bytes, name } };
  if (mime !== null) return { attachment: { kind: 'image', mime, bytes, name } };
  if (bytes.includes(0)) {
    throw new HiError('usage', `'${path}' is binary and no image or PDF.`, {
      hint: 'Attach text, PNG, JPEG, GIF, WebP or PDF.',
    });
  }
  return { text: bytes.toString('utf8') };
}

function asBlock(name: string, text: string): string {
  return `<file name=${JSON.stringify(name)}>\n${text}${text.endsWith('\n') ? '' : '\n'}</file>`;
}

async function read(path: string, cwd: string): Promise<Buffer> {
  try {
    return await readBytes(resolve(cwd, path));
  } catch (cause) {
    throw new HiError('usage', `Cannot attach '${path}': ${reasonFor(cause)}`, {
      hint: 'Check the path; nothing was sent.',
      cause,
    });
  }
}

async function readBytes(path: string): Promise<Buffer> {
  // Opening a pipe that nobody writes to would wait for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile() && !stats.isFIFO()) {
      throw new HiError('usage', stats.isDirectory() ? 'It is a folder.' : 'It is a device, not a file.');
    }
    if (stats.size > LARGEST) throw new HiError('usage', 'It is larger than 20 MB.');
    if (stats.isFile()) return await file.readFile();
    return await readPipe(file.fd);
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** What a shell's `<(command)` prints. */
async function readPipe(fd: number): Promise<Buffer> {
  const { Socket } = process.getBuiltinModule('node:net');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of new Socket({ fd, readable: true, writable: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST) throw new HiError('usage', 'It is larger than 20 MB.');
  }
  return Buffer.concat(chunks);
}

function reasonFor(cause: unknown): string {
  if (cause instanceof HiError) return cause.message;
  const code = systemCode(cause) ?? String(cause);
  return code === 'ENOENT' ? 'There is no such file.' : code === 'EISDIR' ? 'It is a folder.' : `${code}.`;
}
