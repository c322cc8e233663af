import { describe, expect, it } from '@jest/globals';
import type { AnswerPart, ToolCallPart, Usage } from '../../lib/chat/message.js';
import type { PartialAnswer } from '../../lib/session/turn/failed-request.js';
import {
  cutCalls,
  cutResult,
  cutStop,
  lengthCutNotice,
  MOST_CUTS,
  Progress,
} from '../../lib/session/turn/stop-turn.js';

const USAGE: Usage = { input_tokens: 10, output_tokens: 4096, cached_tokens: 0, context_tokens: 15 };
const call = (call_id: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool_call',
  call_id,
  name: 'bash',
  args: {},
  ...more,
});
const text = (words: string): AnswerPart => ({ type: 'text', text: words });

function answered(
  parts: AnswerPart[],
  stop_reason: 'end' | 'length' | 'tool_calls' = 'end',
  usage: Usage | null = null,
): PartialAnswer {
  return { parts, end: { type: 'end', stop_reason, usage } };
}

describe('a call cut by the length limit', () => {
  const cut = call('b', { invalid_args: '{"command": "ec' });

  it('has incomplete arguments in an answer that ended for its length', () => {
    const parts = [text('Let me look.'), call('a'), cut];
    expect(cutCalls(answered(parts, 'length'))).toEqual([cut]);
    expect(cutCalls(answered(parts, 'tool_calls'))).toEqual([]);
    expect(cutCalls({ parts, end: null })).toEqual([]);
  });

  it('is not run, and the model is told why, with the limit if it is known', () => {
    const why = (limit: string) =>
      `Not run: your answer reached ${limit} in the middle of this call, so its arguments are incomplete. Write less in one answer: do the work in several smaller calls.`;
    expect(cutResult(cut, answered([cut], 'length', USAGE))).toEqual({
      type: 'tool_result',
      call_id: 'b',
      name: 'bash',
      error: why('the output limit (4096 tokens)'),
    });
    for (const usage of [null, { ...USAGE, output_tokens: 0 }])
      expect(cutResult(cut, answered([cut], 'length', usage)).error).toBe(why('the output limit'));
    expect(cutResult(cut, { parts: [], end: null }).error).toBe(why('the output limit'));
  });

  it('is named to the user, even without a name yet', () => {
    const calls = [cut, call('c', { name: '' })];
    expect(lengthCutNotice(calls)).toMatch(/in the middle of a call to bash, a tool\. The call was not run/);
    expect(cutStop(calls)).toMatch(/^Stopped: .* in the middle of a call to bash, a tool, which was not run\./);
    expect(MOST_CUTS).toBe(2);
  });
});

describe('the result of a turn', () => {
  it('is empty before the first answer', () => {
    const progress = new Progress('m');
    expect(progress.kept).toBe(false);
    expect(progress.outcome('interrupted')).toEqual({
      text: '',
      model: 'm',
      stop_reason: 'interrupted',
      tool_calls: [],
      sources: [],
      images: [],
    });
  });

  it('has the words of the newest answer with words', () => {
    const progress = new Progress('m');
    progress.take(answered([text('one')]));
    progress.take(answered([text('two')]));
    progress.take(answered([call('a')]));
    expect(progress).toMatchObject({ kept: true, rounds: 3 });
    expect(progress.outcome('end')).toMatchObject({ text: 'two', stop_reason: 'end' });
  });

  it('has the pages of all answers, each once', () => {
    const progress = new Progress('m');
    const [a, b] = [{ url: 'https://a.example' }, { url: 'https://b.example' }];
    progress.take({ ...answered([]), sources: [a] });
    progress.take(answered([]));
    progress.take({ ...answered([]), sources: [b, a] });
    expect(progress.outcome('end').sources).toEqual([a, b]);
  });

  it('has the calls with their results, but none that was not run', () => {
    const progress = new Progress('m');
    progress.takeResults(
      [call('a', { args: { command: 'ls' } }), call('b'), call('c')],
      [
        { type: 'tool_result', call_id: 'b', name: 'bash', error: 'no' },
        { type: 'tool_result', call_id: 'a', name: 'bash', result: { output: 'x' } },
      ],
    );
    expect(progress.outcome('end').tool_calls).toEqual([
      { name: 'bash', args: { command: 'ls' }, result: { output: 'x' } },
      { name: 'bash', args: {}, error: 'no' },
    ]);
  });
});
