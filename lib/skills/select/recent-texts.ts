import { type Entry, isMessage, isPart, type Message, textOf } from '../../chat/message.js';
import { undoneTurns } from '../../chat/undone.js';

/** How many of the newest messages, the one being sent included, make up the recent conversation. */
const RECENT = 4;

/**
 * The texts of the recent conversation that came after a skill was last matched `idle` messages ago: what made it match is no evidence
 * that it is still needed. Never matched is infinitely long ago. The arguments of tool calls count as words, for they name the files a tool touched.
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
