import { ask } from './ask.js';
import type { ChatOptions } from './options.js';
import type { World } from './world.js';

/** What the options of a turn come to when none is given. */
export const NO_OPTIONS: ChatOptions = { stream: true, tools: true, outputFormat: 'text' };

/**
 * What people type most, without any option: `hi`, `hi chat`, `hi ask WORDS`. There is nothing to parse then, and a start need not load what parses.
 * Null for everything else.
 */
export function plainCommand(world: World): (() => Promise<number>) | null {
  const [command, ...words] = world.argv;
  if (words.some((word) => word.startsWith('-') && word !== '-')) return null;
  if (command === 'ask') return () => ask(world, words, NO_OPTIONS);
  if (words.length > 0 || (command !== undefined && command !== 'chat')) return null;
  if (command === undefined && world.stdinIs !== 'terminal') return () => ask(world, [], NO_OPTIONS);
  return async () => await (await import('./chat.js')).chat(world, NO_OPTIONS, command === undefined);
}
