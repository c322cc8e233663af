import { Chalk, type ChalkInstance } from 'chalk';
import { hasColour } from '../base/streams.js';
import type { World } from '../base/world.js';

/**
 * Colours for what a command prints on stdout; none where they are not wanted. They are the 16 colours of the terminal's own theme, which the user can
 * read. chalk colours a finished line; text that streams is styled by `screen/text/style.ts`, which must restore a style in the middle of a line.
 */
export function colours({ stdout, env }: World): ChalkInstance {
  return new Chalk({ level: hasColour(stdout, env) ? 1 : 0 });
}
