import { wrapLines } from '../lib/screen/print.js';

/** Prints a message of a script on stderr, wrapped at words on a terminal. */
export function printMessage(text: string): void {
  const { isTTY, columns } = process.stderr;
  process.stderr.write(`${isTTY ? wrapLines(text, columns) : text}\n`);
}
