import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '../../../../lib/chat/message.js';
import { normaliseHistory } from '../../../../lib/providers/common/normalise-history.js';

/** A turn in which the model calls a tool once for each id. */
function turnOf(turn: number, ids: readonly string[]): readonly Message[] {
  const base = { turn, at: '2026-11-24T10:00:00.000Z', cwd: '/' };
  const call = (call_id: string) => ({ type: 'tool_call', call_id, name: 'read', args: { turn } }) as const;
  const result = (call_id: string) =>
    ({ type: 'tool_result', call_id, name: 'read', result: `${turn} ${call_id}` }) as const;
  return [
    { ...base, id: turn, role: 'user', content: [{ type: 'text', text: 'go' }] },
    { ...base, id: turn + 1, role: 'assistant', provider: 'p', model: 'm', content: ids.map(call) },
    { ...base, id: turn + 2, role: 'tool', content: ids.map(result) },
  ];
}

describe('the calls of a conversation', () => {
  it('have ids of their own for every vendor, however often servers or joined histories repeat them', () => {
    const ids = fc.uniqueArray(fc.constantFrom('call_0', 'call_1', 'a'), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(ids, { minLength: 1, maxLength: 6 }), (turns) => {
        const messages = turns.flatMap((one, index) => turnOf(index * 3 + 1, one));
        const sent = normaliseHistory({ messages, model: 'm' }, 'p').flatMap(({ content }) => [...content]);
        const calls = sent.flatMap((part) => (part.type === 'tool_call' ? [part.call_id] : []));
        const results = sent.flatMap((part) => (part.type === 'tool_result' ? [part] : []));
        expect(new Set(calls).size).toBe(calls.length);
        expect(results.map(({ call_id }) => call_id)).toEqual(calls);
        expect(results.map(({ result }) => result)).toEqual(
          turns.flatMap((one, index) => one.map((id) => `${index * 3 + 1} ${id}`)),
        );
        expect(calls.slice(0, turns[0]?.length)).toEqual(turns[0]);
      }),
    );
  });
});
