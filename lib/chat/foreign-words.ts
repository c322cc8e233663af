import type { NewCompressBlock } from './entry.js';
import { type NewMessage, spokenParts } from './message.js';

/** Whether a user message contains more than what was typed. */
export function hasForeignParts({ role, content }: Pick<NewMessage, 'role' | 'content'>): boolean {
  return role === 'user' && spokenParts(content).length > 1;
}

/** Whether a user message is the output of a command. Such a turn ends at once. */
export function isCommandOutput({ role, stop_reason }: Pick<NewMessage, 'role' | 'stop_reason'>): boolean {
  return role === 'user' && stop_reason !== undefined;
}

/** Whether a message contains text that neither the user nor the model wrote, from a tool, a file, a page, a command, or a summary based on such text. */
export function bringsForeign(message: NewMessage): boolean {
  return (
    message.role === 'tool' ||
    message.sources !== undefined ||
    message.rests_on === 'foreign' ||
    hasForeignParts(message) ||
    isCommandOutput(message)
  );
}

/** Whether a block may contain text that neither the user nor the model wrote. True if the block does not say. */
export function isForeignBlock(block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null): boolean {
  return block !== null && block.content !== '' && block.rests_on !== 'own';
}

/** What a summary of that block and these messages rests on: `foreign` if any of them is. */
export function restingOn(
  block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null,
  messages: readonly NewMessage[],
): 'own' | 'foreign' {
  return isForeignBlock(block) || messages.some(bringsForeign) ? 'foreign' : 'own';
}
