import type { Message } from '../chat/message.js';
import { plan } from './plan.js';
import type { Strategy } from './strategy.js';
import { summaryBlock } from './summary.js';

/** Keeps only the message that waits for an answer; everything else becomes one summary, including the previous one. */
export const replace: Strategy = {
  name: 'replace',
  summary: 'summarise everything but the message that waits for an answer',
  writes: true,
  plan: (input) =>
    plan(input, {
      from: 'base',
      keep: (messages) => (input.running === null ? 0 : sinceAsked(messages)),
      writes: true,
    }),
  compact: (input, made, deps, signal) => summaryBlock(input, made, 'replace', deps, signal),
};

/** The newest user message and the rest of its turn so far. */
function sinceAsked(messages: readonly Message[]): number {
  return messages.length - messages.findLastIndex((message) => message.role === 'user');
}
