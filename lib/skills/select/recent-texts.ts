import { type Entry, isMessage } from '../../chat/entry.js';
import { undoneTurns } from '../../chat/entry-list.js';
import { isPart, type Message, textOf } from '../../chat/message.js';

/** How many messages make up the recent conversation, including the one being sent. */
const RECENT = 4;

/**
 * The texts of the recent conversation since a skill was last matched, `idle` messages ago: the text that matched it does not show that
 * it is still needed. `idle` is infinite for a skill that never matched. Arguments of tool calls are included, because they name files.
 */
export function recentTexts(entries: readonly Entry[], text: string, idle: number): readonly string[] {
  const undone = undoneTurns(entries);
  const messages = entries.filter(isMessage).filter((message) => !undone.has(message.turn));
  const questions = messages.filter((message) => message.skills !== undefined);
  const since = questions.at(-idle)?.turn;
  const after =
    since === undefined ? messages : messages.slice(messages.findLastIndex(({ turn }) => turn === since) + 1);
  return [
    ...after
      .filter(({ role }) => role !== 'tool')
      .slice(1 - RECENT)
      .map(wordsIn),
    text,
  ];
}

function wordsIn({ content }: Message): string {
  const calls = content.filter(isPart('tool_call')).map(({ args }) => JSON.stringify(args));
  return [textOf(content), ...calls].join('\n');
}
