import type { NewCompressBlock } from './entry.js';
import { type NewMessage, spokenParts } from './message.js';

/** Whether a message of the user has more than the words that were typed. */
export function hasForeignParts({ role, content }: Pick<NewMessage, 'role' | 'content'>): boolean {
  return role === 'user' && spokenParts(content).length > 1;
}

/** Whether a message of the user is what a command printed: such a turn is over at once. */
export function isCommandOutput({ role, stop_reason }: Pick<NewMessage, 'role' | 'stop_reason'>): boolean {
  return role === 'user' && stop_reason !== undefined;
}

/** Whether a message brings in words that are neither the user's nor the model's: of a tool, a file, a page, a command, or a summary that rests on such. */
export function bringsForeign(message: NewMessage): boolean {
  return (
    message.role === 'tool' ||
    message.sources !== undefined ||
    message.rests_on === 'foreign' ||
    hasForeignParts(message) ||
    isCommandOutput(message)
  );
}

/** Whether a block has words that may not be the user's or the model's own: of a block that does not say so nobody knows. */
export function isForeignBlock(block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null): boolean {
  return block !== null && block.content !== '' && block.rests_on !== 'own';
}

/** What a summary of that block and these messages rests on: the lowest of its sources. */
export function restingOn(
  block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null,
  messages: readonly NewMessage[],
): 'own' | 'foreign' {
  return isForeignBlock(block) || messages.some(bringsForeign) ? 'foreign' : 'own';
}
