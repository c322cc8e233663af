import { HiError } from '../../errors.js';

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
