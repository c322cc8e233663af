import { bringsForeign, hasForeignParts } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { documentKind } from './index/documents.js';
import type { PlainKind } from './index/part.js';

/** The origin of a message, according to the log. `foreign`: the model's own words after it had read, in that turn, text that neither it nor the user wrote. */
export type Origin = 'user' | 'model' | 'foreign' | 'tool';

/** If a turn has more messages than this before a message, it counts as one with foreign content. */
export const ORIGIN_REACH = 64;

/** The origin of a message; `before` returns the messages that lead to it. */
export function originOf(message: Message, before: () => readonly Message[]): Origin {
  switch (documentKind(message)) {
    case 'user':
      return 'user';
    case 'tool':
    case 'note':
      return 'tool';
    case 'model':
    case 'call':
      return bringsForeign(message) || hasRead(message, before()) ? 'foreign' : 'model';
  }
}

/** Whether the model had read foreign text when it wrote this: a tool's result, a file, piped input, the output of a command, or a summary of such text. */
function hasRead({ id, turn }: Message, messages: readonly Message[]): boolean {
  const begin = messages.findIndex((message) => message.id === turn);
  if (begin < 0) return true;
  const own = messages.slice(begin).filter((message) => message.turn === turn && message.id < id);
  const note = messages[begin - 1];
  if (note !== undefined && documentKind(note) === 'note') return true;
  return own.some(bringsForeign);
}

const LABELS: Readonly<Record<Origin, string>> = {
  user: 'user said',
  model: 'model said',
  foreign: 'model said after reading foreign content',
  tool: 'tool output',
};

const MORE: Readonly<Partial<Record<PlainKind, string>>> = {
  call: ', as a tool call',
  note: ' of a command the user ran',
};

/** The label of a message, for the model. */
export function originLabel(message: Message, origin: Origin): string {
  return (
    LABELS[origin] + (MORE[documentKind(message)] ?? (hasForeignParts(message) ? ', with files or input attached' : ''))
  );
}
