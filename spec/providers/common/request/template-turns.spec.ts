import { describe, expect, it } from '@jest/globals';
import type { Part, ToolCallPart } from '../../../../lib/chat/message.js';
import {
  FREE_FORM,
  formFor,
  formTurns,
  normaliseHistory,
  systemTexts,
  type VendorTurn,
} from '../../../../lib/providers/common/normalise-history.js';
import fc from '../../../support/properties.js';

const NEAR = formFor('http://127.0.0.1:8080/v1', 'any');
const text = (words: string) => ({ type: 'text', text: words }) as const;
const user = (...words: string[]): VendorTurn => ({ role: 'user', content: words.map(text) });
const call = (id: string): ToolCallPart => ({ type: 'tool_call', call_id: id, name: 'look', args: {} });
const answer = (...content: Extract<VendorTurn, { role: 'assistant' }>['content']): VendorTurn => ({
  role: 'assistant',
  own: true,
  content,
});
const result = (...ids: string[]): VendorTurn => ({
  role: 'tool',
  content: ids.map((id) => ({ type: 'tool_result', call_id: id, name: 'look', result: `result ${id}` })),
});
const rolesOf = (turns: readonly VendorTurn[]) => turns.map(({ role }) => role);
const wordsOf = (turns: readonly VendorTurn[]) =>
  turns.map(({ content }) =>
    content
      .map((part) => ('text' in part ? part.text : ''))
      .join('\n\n')
      .trim(),
  );

describe('the strict form', () => {
  it('joins consecutive user messages', () => {
    const turns = formTurns([user('a'), user('b', 'c'), answer(text('d')), user('e')], NEAR);
    expect(rolesOf(turns)).toEqual(['user', 'assistant', 'user']);
    expect(wordsOf(turns)).toEqual(['a\n\nb\n\nc', 'd', 'e']);
  });

  it('begins with a user message', () => {
    expect(rolesOf(formTurns([answer(text('kept')), user('now')], NEAR))).toEqual(['user', 'assistant', 'user']);
  });

  it('inserts an answer where a user message follows a result', () => {
    const turns = formTurns([user('a'), answer(call('1')), result('1'), user('b')], NEAR);
    expect(rolesOf(turns)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('moves the text beside a call into the next answer', () => {
    const turns = [user('a'), answer(text('Let me look.'), call('1')), result('1'), answer(text('Done.'))];
    expect(wordsOf(formTurns(turns, NEAR))).toEqual(['a', '', '', 'Let me look.\n\n\n\n\n\nDone.']);
    expect(wordsOf(formTurns([...turns.slice(0, 3), user('Well?')], NEAR)).slice(3)).toEqual(['Let me look.', 'Well?']);
  });

  it('leaves the text beside a call if its template is known to keep it', () => {
    const turns = [user('a'), answer(text('Let me look.'), call('1')), result('1')];
    expect(formTurns(turns, formFor('https://api.deepseek.com/v1', 'deepseek-v4'))).toEqual(turns);
    for (const model of ['meta-llama/Llama-3.3-70B-Instruct', 'google/gemma-4-31b-it', 'mistralai/Mistral-Nemo'])
      expect(formFor('https://openrouter.ai/api/v1', model).textBesideCalls).toBe(false);
    for (const near of ['http://localhost:1234', 'http://192.168.1.4:8000/v1', 'http://box.local/v1', 'http://[::1]:1'])
      expect(formFor(near, 'deepseek-v4').textBesideCalls).toBe(false);
  });

  it('has one system message', () => {
    expect(systemTexts(['one', 'two'], NEAR)).toEqual(['one\n\ntwo']);
    expect(systemTexts([], NEAR)).toEqual([]);
    expect(systemTexts(['one', 'two'], FREE_FORM)).toEqual(['one', 'two']);
  });
});

const words = fc.string({ minLength: 1, maxLength: 6 }).map((said) => `w${said}`);
const step = fc.oneof(
  words.map((said): VendorTurn[] => [user(said)]),
  words.map((said): VendorTurn[] => [answer(text(said))]),
  fc.tuple(fc.option(words), fc.integer({ min: 1, max: 3 })).map(([said, calls]): VendorTurn[] => {
    const ids = Array.from({ length: calls }, (_, at) => `id${at}`);
    return [answer(...(said === null ? [] : [text(said)]), ...ids.map(call)), result(...ids)];
  }),
);

describe('any conversation in the strict form', () => {
  const conversation = fc.array(step, { minLength: 1, maxLength: 12 }).map((steps) => [...steps.flat(), user('last')]);

  it('alternates, and keeps every word and every result', () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const formed = formTurns(turns, NEAR);
        const roles = rolesOf(formed);
        expect(roles[0]).toBe('user');
        for (const [at, role] of roles.entries()) {
          const before = roles[at - 1];
          if (role === 'user') expect([undefined, 'assistant']).toContain(before);
          if (role === 'assistant') expect(['user', 'tool']).toContain(before);
          if (role === 'tool') expect(before).toBe('assistant');
        }
        const all = JSON.stringify(formed);
        for (const said of turns.flatMap(({ content }): readonly Part[] => content))
          if ('text' in said) expect(all).toContain(JSON.stringify(said.text));
        expect(formed.filter(({ role }) => role === 'tool')).toEqual(turns.filter(({ role }) => role === 'tool'));
        for (const turn of formed) {
          const types = new Set(turn.content.map(({ type }) => type));
          expect(types.has('tool_call') && types.has('text')).toBe(false);
        }
      }),
    );
  });

  it('has the previous request as its prefix', () => {
    fc.assert(
      fc.property(conversation, conversation, (turns, more) => {
        const before = formTurns([...turns, answer(text('so'))], NEAR);
        expect(formTurns([...turns, answer(text('so')), user('next'), ...more], NEAR).slice(0, before.length)).toEqual(
          before,
        );
      }),
    );
  });

  it('has the request before the calls as its prefix while they run', () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const running = [...turns, answer(text('I look.'), call('x')), result('x')];
        const before = formTurns(running, NEAR);
        const after = formTurns([...running, answer(text('And again.'), call('y')), result('y')], NEAR);
        expect(after.slice(0, before.length)).toEqual(before);
        expect(formTurns([...running, answer(text('Done.'))], NEAR).slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

describe('answers without content for this model', () => {
  it('leave no gap that breaks the alternation', () => {
    const messages = [
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [{ type: 'thinking', text: 'Hm' }], provider: 'other', model: 'x' },
      { role: 'user', content: [text('b')] },
    ] as const;
    expect(rolesOf(formTurns(normaliseHistory({ messages, model: 'm' }, 'openai'), NEAR))).toEqual(['user']);
  });
});
