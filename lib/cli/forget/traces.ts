import { storedText } from '../../chat/entry.js';
import { type Message, typedText } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';
import type { MemoryLine } from '../../memory/memory-text.js';

/** How to recognise what is to be removed outside the history. */
export interface Traces {
  /** Whether messages, or copies of them, are removed. If so, data derived from the whole conversation is removed too. */
  readonly any: boolean;
  holds(content: string): boolean;
  isTyped(input: string): boolean;
  /** Whether to remove a command's output file, given its name and time. */
  isOutputMeant(name: string, written: Date): boolean;
  isLineMeant(line: MemoryLine): boolean;
}

/** The traces of some messages. */
export function tracesOf(order: ForgetOrder, messages: readonly Message[], any: boolean): Traces {
  const holds = order.kind === 'text' ? occurrenceOf(order.text) : () => false;
  const typed = new Set(messages.filter(({ role }) => role === 'user').map(({ content }) => typedText(content).trim()));
  typed.delete('');
  const texts = messages.map(storedText);
  const times = new Map(messages.map(({ id, at }) => [id, Date.parse(at)]));
  const isSince = (time: number): boolean => order.kind === 'since' && time >= order.from.getTime();
  return {
    any,
    holds,
    isTyped: (input) => holds(input) || typed.has(input.trim()),
    isOutputMeant: (name, written) => isSince(written.getTime()) || texts.some((text) => text.includes(name)),
    isLineMeant: ({ origin }) => {
      if (origin === null) return false;
      const made = Date.parse(origin.at);
      if (isSince(made)) return true;
      // The user's own line is independent; one from the model or a summary is based on messages. After a reset the same ids mean other messages.
      const said = origin.by === 'user' || origin.id === null ? undefined : times.get(origin.id);
      return said !== undefined && Math.floor(said / 1000) * 1000 <= made;
    },
  };
}
