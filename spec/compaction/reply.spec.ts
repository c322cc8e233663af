import { describe, expect, it } from '@jest/globals';
import { asTokens } from '../../lib/chat/request.js';
import { readReply } from '../../lib/compaction/prompt.js';

const read = (text: string, budget = 100) => readReply({ text, stop_reason: 'end' }, asTokens(budget));

describe('the reply of a summariser', () => {
  it('is read in the requested format', () => {
    const text = `=== SUMMARY ===
Decisions
We use zstd.

=== NEW FACTS ===
- decision: zstd, because it is fast
- pref: short answers
=== OUTDATED FACTS ===
2, 5`;
    expect(read(text)).toEqual({
      prose: 'Decisions\nWe use zstd.',
      added: [
        { kind: 'decision', text: 'zstd, because it is fast' },
        { kind: 'pref', text: 'short answers' },
      ],
      outdated: [2, 5],
    });
  });

  it('names the messages behind a fact', () => {
    expect(read('We use zstd [#3].\n=== NEW FACTS ===\n- decision: zstd [#3, #4].\n- pref: tabs').added).toEqual([
      { kind: 'decision', text: 'zstd.', ids: [3, 4] },
      { kind: 'pref', text: 'tabs' },
    ]);
  });

  it('is read in the other formats that models write', () => {
    const text = `<think>What shall I write?</think>
**SUMMARY**
All is well.
## New facts:
* **fact**: the port is 8080
1. [preference]: tabs
• done：the release
nothing of the kind
### Outdated facts
none`;
    expect(read(text)).toEqual({
      prose: 'All is well.',
      added: [
        { kind: 'fact', text: 'the port is 8080' },
        { kind: 'pref', text: 'tabs' },
        { kind: 'done', text: 'the release' },
      ],
      outdated: [],
    });
  });

  it('is plain prose if it has no format', () => {
    expect(read('They talked about zstd.')).toEqual({ prose: 'They talked about zstd.', added: [], outdated: [] });
    for (const text of ['```markdown\nIn a fence.\n```', ' \n```\nIn a fence.\n``` \n'])
      expect(read(text).prose).toBe('In a fence.');
    for (const text of ['Run:\n```\nls\n```', '```\nls\n```\nruns.']) expect(read(text).prose).toBe(text);
  });

  it('drops the heading that a block adds itself', () => {
    expect(read('[Compressed Message Summary]\nThey talked.').prose).toBe('They talked.');
  });

  it('is cut at a line when it is a little too long', () => {
    const line = 'x'.repeat(99);
    expect(read(`${line}\n${line}\n${line}\n${line}\n${line}`).prose).toBe(`${line}\n${line}\n${line}\n${line}`);
    expect(read('é'.repeat(450)).prose).toBe('é'.repeat(400));
  });

  it('is unusable if it is empty or contains only facts', () => {
    expect(() => read(' \n ')).toThrow('empty');
    expect(() => read('=== SUMMARY ===\n=== NEW FACTS ===\n- fact: x')).toThrow('empty');
    expect(() => read('<think>hm</think>')).toThrow('empty');
    expect(() => read('[#12] [#13]')).toThrow('empty');
  });

  it('is unusable if it is a refusal or an error', () => {
    for (const text of [
      "I'm sorry, but I can't do that.",
      'I cannot help.',
      'I won’t do that.',
      "I can't do that.",
      'As an AI, I have no view.',
      'Error: 503',
      '{"error": "x"}',
      'HTTP 502',
    ]) {
      expect(() => read(text)).toThrow(text.slice(0, 20));
    }
    expect(read('Errors in the parser were fixed; I said sorry.').prose).not.toBe('');
    for (const text of ['The user wrote: sorry, I cannot come.', 'They asked why an http 502 came: Error: 503.']) {
      expect(read(text).prose).toBe(text);
    }
    const long = `I cannot say it shorter: ${'they talked on and on. '.repeat(20)}`.trim();
    expect(readReply({ text: long, stop_reason: 'end' }, asTokens(1000)).prose).toBe(long);
  });

  it('is unusable if it was cut off or is far too long', () => {
    for (const stop_reason of ['length', 'refusal', 'tool_calls'] as const) {
      expect(() => readReply({ text: 'They talked.', stop_reason }, asTokens(100))).toThrow();
    }
    expect(() => read('x'.repeat(601))).toThrow('151 tokens where 100');
  });
});
