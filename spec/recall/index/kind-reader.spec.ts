import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message, Part } from '../../../lib/chat/message.js';
import { KindReader } from '../../../lib/recall/index/documents.js';
import { originOf } from '../../../lib/recall/search.js';

const words: Part = { type: 'text', text: 'words' };
const result: Part = { type: 'tool_result', call_id: 'c', name: 'bash', result: 'x' };

/** What may come next in a conversation. */
const STEPS = ['ask', 'attach', 'note', 'answer', 'search', 'print', 'rest'] as const;

const MORE: Readonly<Partial<Record<(typeof STEPS)[number], Partial<Message>>>> = {
  search: { sources: [] },
  rest: { rests_on: 'foreign' },
};

function conversation(steps: readonly (typeof STEPS)[number][]): readonly Message[] {
  let turn = 1;
  return steps.map((step, index): Message => {
    const id = index + 1;
    if (step === 'ask' || step === 'attach' || step === 'note') turn = id;
    const common = { id, turn, at: '2026-11-22T10:00:00Z', cwd: '/', content: [words] };
    if (step === 'ask') return { ...common, role: 'user' };
    if (step === 'attach') return { ...common, role: 'user', content: [words, words] };
    if (step === 'note') return { ...common, role: 'user', stop_reason: 'end' };
    if (step === 'print') return { ...common, role: 'tool', content: [result] };
    return { ...common, role: 'assistant', ...MORE[step] };
  });
}

describe('the kind of a message', () => {
  it('is the same as from the whole log, and never more trusted if reading starts in the middle', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 24 }), fc.nat(24), (steps, begin) => {
        const messages = conversation(steps);
        const [whole, rest] = [new KindReader(), new KindReader()];
        for (const [index, message] of messages.entries()) {
          const kind = whole.kindOf(message);
          const origin = originOf(message, () => messages.slice(0, index + 1));
          if (kind === 'model' || kind === 'foreign') expect(kind).toBe(origin);
          if (index < begin) continue;
          const later = rest.kindOf(message);
          if (later !== kind) expect([kind, later]).toEqual(['model', 'foreign']);
        }
      }),
    );
  });
});
