import { constants } from 'node:fs';
import { access, lstat, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { quantity } from '../../chat/text.js';
import { makeFolder } from '../../disk.js';
import { HiError, systemCode } from '../../errors.js';
import { identityOf, type JudgedPlace } from '../../permission/paths/resolve-path.js';
import { detectEncoding } from '../shell/spill.js';
import { changed, openFolderOf } from './open-judged.js';

/**
 * Replaces a file atomically, by writing a temporary file and renaming it. Creates parent folders and keeps the mode of
 * an existing file. Throws a `HiError` with the reason on failure, also if another file was put in its place since it
 * was judged. Resolves to whether the file is new.
 */
export async function replaceFile(place: JudgedPlace, content: string | Uint8Array): Promise<boolean> {
  const before = await existing(place.path);
  try {
    makeFolder(dirname(place.path), 0o777);
    const { folder, path } = await openFolderOf(place);
    try {
      await putInPlace(place, path, content, before);
    } finally {
      await folder.close();
    }
  } catch (failure) {
    throw explain(failure, place.path);
  }
  return before === null;
}

async function putInPlace(
  place: JudgedPlace,
  path: string,
  content: string | Uint8Array,
  mode: number | null,
): Promise<void> {
  // Not `writeAside`: it would follow a link at the permitted path, and overwrite a file with its temporary name.
  const aside = join(dirname(path), `.${basename(path).slice(0, 100)}.${process.pid}-${Date.now()}.hi`);
  try {
    const file = await open(aside, 'wx', mode ?? 0o666);
    try {
      await file.writeFile(content);
      // `open` applies the umask to the mode.
      if (mode !== null) await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    const now = await lstat(path, { bigint: true }).catch(() => null);
    if ((now === null ? null : identityOf(now)) !== place.file) throw changed(place);
    await rename(aside, path);
  } catch (failure) {
    await unlink(aside).catch(() => {});
    throw failure;
  }
}

/** The mode of the existing file, or null. */
async function existing(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new HiError('usage', `'${path}' is a folder.`);
    if (!found.isFile()) throw new HiError('usage', `'${path}' is not a regular file.`);
    // A rename would bypass the write protection of the file.
    await access(path, constants.W_OK);
    return found.mode & 0o7777;
  } catch (failure) {
    if (systemCode(failure) === 'ENOENT' || systemCode(failure) === 'ENOTDIR') return null;
    throw failure instanceof HiError ? failure : explain(failure, path);
  }
}

function explain(failure: unknown, path: string): unknown {
  const why = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is exceeded',
    ENOTDIR: 'one of its parent folders is a file',
    EEXIST: 'one of its parent folders is a file',
    ENAMETOOLONG: 'its name is too long',
  }[systemCode(failure) ?? ''];
  return why === undefined ? failure : new HiError('usage', `Cannot write '${path}': ${why}.`, { cause: failure });
}

/** A replacement in a text. */
interface Replacement {
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/**
 * The text with `old` replaced, and its line number. The replacement gets the line endings of the text.
 * Throws a `HiError` with advice unless `old` occurs exactly once.
 */
export function replaceOnce(text: string, { path, old, new: replacement }: Replacement) {
  const isWindows = text.includes('\r\n') && !text.includes(old);
  const wanted = isWindows ? withWindowsLines(old) : old;
  const becomes = isWindows ? withWindowsLines(replacement) : replacement;
  if (wanted === becomes)
    throw new HiError('usage', `'old' and 'new' are the same; nothing would change in '${path}'.`);
  const places = placesOf(text, wanted);
  const [place, second] = places;
  if (place === undefined) throw new HiError('usage', `'old' was not found in '${path}'. ${hintFor(text, old)}`);
  if (second !== undefined) {
    const lines = places.slice(0, 10).map((found) => lineAt(text, found));
    throw new HiError(
      'usage',
      `'old' occurs ${places.length} times in '${path}' (lines ${lines.join(', ')}). Include more lines around it, so that it is unique.`,
    );
  }
  const changed = text.slice(0, place) + becomes + text.slice(place + wanted.length);
  return { text: changed, line: lineAt(text, place) };
}

function withWindowsLines(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + 1)) places.push(from);
  return places;
}

function lineAt(text: string, place: number): number {
  return text.slice(0, place).split('\n').length;
}

/** Looks for the text ignoring white space, the most common mistake of models. */
function hintFor(text: string, old: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const wanted = old
    .trim()
    .split('\n')
    .map((line) => line.trim());
  const found = lines.findIndex((_, index) => wanted.every((line, offset) => lines[index + offset] === line));
  if (found === -1) return 'Read the file again: it may have changed.';
  return `Line ${found + 1} has it with different white space. Copy it exactly as the file has it.`;
}

/** Above this size a diff takes too long, and is too long to read. */
const MAX_DIFF_SIZE = 2 * 1024 * 1024;

/**
 * What writing `content` to `path` would change: a unified diff, or if there is none, a sentence with the whole new
 * content. Never throws.
 */
export async function changePreview(path: string, content: string): Promise<string> {
  const before = await readBefore(path);
  if (before.kind === 'other') return withContent(`${before.what} would be replaced by ${size(content)}.`, content);
  if (before.text.length + content.length > MAX_DIFF_SIZE)
    return withContent(`Too large for a diff: ${size(content)} would be written.`, content);
  if (before.text === content) return 'No changes.';
  const { createTwoFilesPatch } = await import('diff');
  const old = before.kind === 'missing' ? '/dev/null' : path;
  const patch = createTwoFilesPatch(old, path, before.text, content, undefined, undefined, {
    context: 3,
    timeout: 2000,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  return patch ?? withContent(`Too different for a diff: ${size(content)} would be written.`, content);
}

/** The user can only approve what they can see, so the preview shows all of it, marked as new lines of a diff. */
const withContent = (sentence: string, content: string): string => `${sentence}\n\n${content.replace(/^/gm, '+')}`;

type Before =
  | { readonly kind: 'missing'; readonly text: '' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'other'; readonly what: string };

async function readBefore(path: string): Promise<Before> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return { kind: 'other', what: 'Something that is not a file' };
    if (found.size > MAX_DIFF_SIZE) return { kind: 'other', what: `The file of ${found.size} bytes` };
    const bytes = await readFile(path);
    const encoding = await detectEncoding(bytes, true);
    if (encoding.kind === 'binary') return { kind: 'other', what: `The ${encoding.what} of ${found.size} bytes` };
    return { kind: 'text', text: new TextDecoder(encoding.name).decode(bytes) };
  } catch {
    return { kind: 'missing', text: '' };
  }
}

function size(content: string): string {
  return `${quantity(content.split('\n').length, 'line')} (${quantity(content.length, 'character')})`;
}
