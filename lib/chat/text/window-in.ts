import { wholeNumbers } from './token-count.js';

/** The ways in which messages name the window: a number after the word for a limit, or before it. The most certain first. */
const NUMBERS: readonly RegExp[] = [
  /\b(?:n_ctx|max_model_len|max_seq_len)['"]?(?:\s?[:=]\s?| )(\d+)/,
  /> (\d+)/,
  /\b(\d{1,12}) (?:tokens? )?max(?:imum)?\b/,
  /context (?:size|length|window|window limit) \((?:of )?(\d+)(?: tokens?)?\)/,
  /\bmodel(?:'s)? (?:max(?:imum)? )?(?:context )?(?:length|window)(?: is| of|:)? ?(?:only )?(\d+)/,
  /\bmax(?:imum)?(?: allowed)? (?:model |prompt |input |context |sequence |window )*(?:length|size|tokens|window)(?: is| of|:)? ?(?:only )?(\d+)/,
  /\ballowed \((\d+)\)/,
  /context (?:length|size|window|limit)(?: limit)?(?: of| is|:)*(?: only)? (\d+)/,
  /(?:tokens?|configured|context|the|while) limit(?: of| is|:)* (\d+)/,
  /\bsupports? (?:only |up to |at most |a maximum of )*(\d+)/,
  /length should be \[\d+, ?(\d+)\]/,
  /must (?:be|have) (?:<=|less than(?: or equal to)?) (\d+)/,
  /cannot exceed (\d+)|\blimit(?: is| of)?:? (\d+)/,
];

/** A smaller number in such a message is a code or a count of messages. */
const LEAST_WINDOW = 256;

/** The window in tokens that an overflow message names; null if it names none. */
export function windowIn(words: string): number | null {
  const text = wholeNumbers(words.toLowerCase());
  for (const pattern of NUMBERS) {
    const found = pattern.exec(text);
    const named = Number(found?.[1] ?? found?.[2] ?? 0);
    if (named >= LEAST_WINDOW) return named;
  }
  return null;
}
