import type { Entry } from './entry.js';
import { isCompressBlock } from './entry.js';
import type { Part } from './message.js';

/** The tool whose calls and results only repeat other messages. */
export const RECALL_TOOL = 'recall';

const SEARCH_AGAIN = 'A part of the conversation was removed in the meantime. Search again.';

/** Parts that were made before a part of the conversation was removed, without what they repeat of other messages. */
export function withoutRepeated<Kind extends Part>(content: readonly Kind[]): readonly Kind[] {
  return content
    .filter((part) => part.type !== 'text' || part.recalled === undefined)
    .map((part) =>
      part.type === 'tool_result' && part.name === RECALL_TOOL
        ? { ...part, result: undefined, error: SEARCH_AGAIN }
        : part,
    );
}

/** The same for entries in memory only: without summaries, and without pins and passages of messages that are not among themselves. */
export function withoutCopies(own: readonly Entry[]): readonly Entry[] {
  const first = own[0]?.id ?? 0;
  return own.flatMap((entry): readonly Entry[] => {
    if (isCompressBlock(entry)) return [];
    if ('type' in entry) return entry.type === 'pin' && entry.message.id < first ? [] : [entry];
    return [{ ...entry, content: withoutRepeated(entry.content) }];
  });
}
