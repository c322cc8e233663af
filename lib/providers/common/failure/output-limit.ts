import { wholeNumbers } from '../../../chat/text.js';

/** Servers' names for the answer limit. */
const NAMES = /max_(?:completion_|output_|new_)?tokens|maxoutputtokens|maximum tokens|(?:output|completion) tokens/;

/** Where their messages give the allowed maximum. */
const NUMBERS: readonly RegExp[] = [
  /> (\d+),? which is the maximum/,
  /\bat most (\d+)/,
  /<= ?\W?(\d+)/,
  /less than or equal to \W?(\d+)/,
  /\[\d{1,12}, ?(\d+)\]/,
  /\bto (\d+) \(inclusive\)/,
  /\blimit (?:of|is) (\d+)/,
  /\bmaximum (?:value )?(?:of|is) (\d+)/,
];

const EXCLUSIVE = /\bto (\d+) \(exclusive\)/;

/** The allowed answer limit in tokens, if the message refuses a larger one; null if it names none. */
export function outputLimitIn(words: string): number | null {
  const text = wholeNumbers(words.toLowerCase());
  if (!NAMES.test(text)) return null;
  const found = NUMBERS.map((pattern) => pattern.exec(text)?.[1]).find((number) => number !== undefined);
  const most = Number(found ?? 0) || Number(EXCLUSIVE.exec(text)?.[1] ?? 0) - 1;
  return most > 0 ? most : null;
}
