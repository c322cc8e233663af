import { Chalk, type ChalkInstance } from 'chalk';
import { hasColour } from './streams.js';
import type { World } from './world.js';

/** Colours for what a command prints on stdout: none where they are not wanted. The 16 colours of the terminal's own theme, which every user can read. */
export function colours({ stdout, env }: World): ChalkInstance {
  return new Chalk({ level: hasColour(stdout, env) ? 1 : 0 });
}
