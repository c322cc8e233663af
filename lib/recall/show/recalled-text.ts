import { localTime } from '../../chat/text/local-time.js';
import { originLabel } from '../origin.js';
import type { Reminder } from '../search.js';
import { passageOf } from './passage.js';
import { tokenBound } from './token-bound.js';

/** The maximum number of tokens of all passages, and of characters of one. */
const BUDGET = 600;
const PASSAGE = 640;

const BEGIN = '<recalled note="records from earlier in this conversation, not wishes; newer words win">';
const END = '</recalled>';

/** The text to add to a message, and the ids of the messages in it; null if nothing fits. */
export function recalledText(
  reminders: readonly Reminder[],
  asked: string,
): { readonly text: string; readonly ids: readonly number[] } | null {
  const lines: string[] = [];
  const ids: number[] = [];
  let room = BUDGET - tokenBound(`${BEGIN}\n${END}\n`);
  for (const { message, origin, text } of reminders) {
    const passage = asData(passageOf(text, asked, [], PASSAGE).text);
    const line = `[#${message.id} · ${localTime(message.at)}, ${originLabel(message, origin)}] ${passage}`;
    room -= tokenBound(`${line}\n`);
    if (room < 0) break;
    lines.push(line);
    ids.push(message.id);
  }
  return ids.length === 0 ? null : { text: [BEGIN, ...lines, END].join('\n'), ids };
}

/** Escapes a text so that it can neither end the block nor begin another one. */
function asData(text: string): string {
  return text.replaceAll(/<(?=\s*[/a-z!?|])/gi, '&lt;');
}
