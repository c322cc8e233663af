import type { Message } from '../chat/message.js';

/**
 * For every index from 0 to the number of messages, whether the view may be cut before it. Never between a call and its result:
 * OpenAI, Anthropic and Gemini reject a tool result without its call with status 400.
 */
export function validCuts(messages: readonly Message[]): readonly boolean[] {
  const changes = new Int32Array(messages.length + 2);
  const called = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const part of message.content) {
      if (part.type === 'tool_call') called.set(part.call_id, index);
      if (part.type !== 'tool_result') continue;
      const call = called.get(part.call_id);
      if (call === undefined || call === index) continue;
      changes[call + 1] = (changes[call + 1] ?? 0) + 1;
      changes[index + 1] = (changes[index + 1] ?? 0) - 1;
    }
  });
  const cuts: boolean[] = [];
  for (let index = 0, straddling = 0; index <= messages.length; index++) {
    straddling += changes[index] ?? 0;
    cuts.push(straddling === 0);
  }
  return cuts;
}

/** The nearest valid cut at or before an index, which keeps more messages rather than fewer. */
export function cutBefore(cuts: readonly boolean[], index: number): number {
  for (let at = Math.min(index, cuts.length - 1); at > 0; at--) if (cuts[at]) return at;
  return 0;
}

/** The first valid cut from `from` to `last` that is good enough, else the last valid one; `from` itself if it is after `last`. */
export function advanceCut(
  cuts: readonly boolean[],
  from: number,
  last: number,
  isGood: (at: number) => boolean,
): number {
  let found = from;
  for (let at = from; at <= last; at++) {
    if (!cuts[at]) continue;
    found = at;
    if (isGood(at)) break;
  }
  return found;
}

/** The index of the last group: the newest message that is not a tool result, and the results after it. It always stays, because the model has not read it yet. */
export function lastGroup(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex((message) => message.role !== 'tool'),
  );
}
