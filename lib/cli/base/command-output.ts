import { Chalk, type ChalkInstance } from 'chalk';
import { toJson } from '../../chat/json.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { neutraliseJson } from '../../screen/text/neutralise.js';
import { hasColour } from './output.js';
import type { World } from './world.js';

/**
 * Colours for what a command prints on stdout; none where they are not wanted. They are the 16 colours of the
 * terminal's own theme, which the user can read. chalk colours a finished line; text that streams is styled by
 * `screen/text/style.ts`, which must restore a style in the middle of a line.
 */
export function colours({ stdout, env }: World): ChalkInstance {
  return new Chalk({ level: hasColour(stdout, env) ? 1 : 0 });
}

/**
 * Writes a value as JSON, with a newline; what a terminal would obey has escapes, also for one that shows the file
 * later.
 */
export function writeJson(stdout: OutputStream, value: unknown, indent = 0): void {
  stdout.write(`${neutraliseJson(toJson(value, indent))}\n`);
}

/** The text as one word of a shell, as people write it. */
export const shellQuoted = (text: string): string =>
  /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
