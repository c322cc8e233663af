import { BY_MODEL } from '../own-programs.js';
import type { ChatOptions } from './base/command-options.js';
import type { World } from './base/world.js';
import { askCommand } from './commands/ask-command.js';
import { chatCommand } from './commands/chat-command.js';

/** The options of a turn when none is given. */
export const NO_OPTIONS: ChatOptions = { stream: true, tools: true, outputFormat: 'text' };

/**
 * The commands that people type most, without options: `hi`, `hi chat`, `hi ask WORDS`. They need no parser, so a start does not load it.
 * Null for everything else.
 */
export function fastPathCommand(world: World): (() => Promise<number>) | null {
  const [command, ...words] = world.argv;
  if (words.some((word) => word.startsWith('-') && word !== '-') || world.env[BY_MODEL]) return null;
  if (command === 'ask') return () => askCommand(world, words, NO_OPTIONS);
  if (words.length > 0 || (command !== undefined && command !== 'chat')) return null;
  if (command === undefined && world.stdinIs !== 'terminal') return () => askCommand(world, [], NO_OPTIONS);
  return async () => await chatCommand(world, NO_OPTIONS, command === undefined);
}
