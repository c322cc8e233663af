import { describe, expect, it } from '@jest/globals';
import type { Message, Part } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { asData, type Material, summaryInput, summaryPrompt } from '../../lib/compaction/prompt.js';

const MATERIAL: Material = {
  earlier: '',
  facts: [],
  transcript: '<message role="user">\nhi\n</message>\n',
  budget: asTokens(100),
  target_ratio: 0.5,
  focus: null,
  language: null,
  most_output: 100_000,
  brief: false,
};
const EARLIER = { earlier: 'They met.', facts: [{ kind: 'fact', text: 'The port is 8080.' }] } as const;

const taskOf = (change: Partial<Material>): string => summaryPrompt({ ...MATERIAL, ...change }).user;

describe('the request for a summary', () => {
  it('contains the conversation as data, and the previous record if there is one', () => {
    expect(taskOf({})).toMatch(
      /^<conversation>\n<message role="user">\nhi\n<\/message>\n<\/conversation>\n\nWrite the/,
    );
    expect(taskOf(EARLIER)).toMatch(
      /^<earlier-summary>\nThey met\.\n<\/earlier-summary>\n<facts>\n1\. fact: The port is 8080\.\n<\/facts>\n<conversation>/,
    );
  });

  it('says what the summary replaces, how long it may be, and its format', () => {
    expect(taskOf({})).toContain(
      'that replaces these messages. Reduce them to about 50% of their length or less, and to at most 100 tokens (about 70 words).',
    );
    expect(taskOf({})).toContain('\n\nReply in this form:\n=== SUMMARY ===\nProse under');
    expect(taskOf({})).toContain('\n=== NEW FACTS ===\nOne line');
    expect(taskOf({})).not.toContain('OUTDATED FACTS');
    expect(taskOf(EARLIER)).toContain('that replaces the earlier summary and these messages together.');
    expect(taskOf(EARLIER)).toContain('\n=== OUTDATED FACTS ===\nThe numbers of the facts above');
  });

  it('asks for the ids of the messages behind each fact, and keeps those of the previous record', () => {
    expect(taskOf({})).toContain('put the ids of its messages: [#12] or [#12 #15].');
    const facts = [{ kind: 'fact', text: 'The port is 8080.', ids: [3, 4] }] as const;
    expect(taskOf({ facts })).toContain('<facts>\n1. fact: The port is 8080. [#3 #4]\n</facts>');
  });

  it('names the language and the topics to focus on, if they are known', () => {
    expect(taskOf({ language: 'German' })).toContain('language of the conversation, which is German; keep');
    expect(taskOf({})).toContain('language of the conversation; keep');
    expect(taskOf({ focus: ' the <facts> ' })).toContain('\nPay special attention to: the &lt;facts>\n');
    for (const focus of [null, ' ']) expect(taskOf({ focus })).not.toContain('attention');
  });

  it('is short for a small window, and asks for prose alone', () => {
    const brief = (change: Partial<Material>) => summaryPrompt({ ...MATERIAL, brief: true, ...change });
    expect(brief({}).system.length).toBeLessThan(summaryPrompt(MATERIAL).system.length);
    for (const { system } of [brief({}), summaryPrompt(MATERIAL)]) expect(system).toMatch(/data.*never follow/s);
    expect(brief({}).user).toMatch(
      /\nWrite the record that replaces the messages above, in at most 70 words: .*open\. Behind each fact .*\.$/,
    );
    expect(brief(EARLIER).user).toContain('replaces the earlier summary and the messages above');
    expect(brief({ language: 'German' }).user).toMatch(/\nWrite in German\.$/);
    expect(brief({ focus: ' tests ' }).user).toMatch(/\nPay special attention to: tests$/);
    expect(brief({ focus: ' ' }).user).not.toContain('attention');
  });

  it('leaves room for thinking, up to what models accept', () => {
    const room = (change: Partial<Material>) => summaryPrompt({ ...MATERIAL, ...change }).max_output_tokens;
    expect(room({})).toBe(1224);
    expect(room({ budget: asTokens(4096) })).toBe(8192);
    expect(room({ most_output: 500 })).toBe(500);
  });
});

describe('a message for the summariser', () => {
  function shown(content: readonly Part[], limit = 100_000): string {
    const message: Message = { role: 'tool', content, cwd: '/', id: 1, turn: 1, at: '2026-01-01T00:00:00.000Z' };
    return summaryInput(message, limit);
  }
  const wrapped = (text: string) => `<message role="tool" id="1">\n${text}\n</message>\n`;
  const call = { call_id: 'a', name: 'bash' } as const;

  it('contains its words, calls, results and images, without thinking', () => {
    expect(
      shown([
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'Let me see.' },
        { type: 'vendor', opaque: { provider: 'openai', data: { id: 'x' } } },
        { type: 'tool_call', ...call, args: { command: 'ls' } },
        { type: 'tool_call', ...call, args: {}, invalid_args: '{"comm' },
        { type: 'tool_result', ...call, result: 'a.txt' },
        { type: 'tool_result', ...call, result: { output: 1 } },
        { type: 'tool_result', ...call, error: 'No.' },
        { type: 'image', mime: 'image/png', sha256: 'ab'.repeat(32), bytes: 9, name: 'cat.png' },
        { type: 'document', mime: 'application/pdf', sha256: 'ab'.repeat(32), bytes: 9, name: 'a.pdf' },
      ]),
    ).toBe(
      wrapped(
        [
          'Let me see.',
          '[calls bash {"command":"ls"}]',
          '[calls bash {"comm]',
          '[bash answers] a.txt',
          '[bash answers] {"output":1}',
          '[bash fails] No.',
          '[image: cat.png (image/png)]',
          '[image: a.pdf (application/pdf)]',
        ].join('\n'),
      ),
    );
  });

  it('contains head and tail of long results and arguments, and of a long message', () => {
    expect(shown([{ type: 'tool_result', ...call, result: 'x'.repeat(2000) }])).not.toContain('left out');
    expect(shown([{ type: 'tool_result', ...call, result: 'x'.repeat(2001) }])).toContain('1 characters left out');
    expect(shown([{ type: 'tool_call', ...call, args: { a: 'x'.repeat(1000) } }])).toContain('characters left out');
    expect(shown([{ type: 'text', text: 'x'.repeat(50) }], 10)).toBe(
      wrapped('xxxxxxx\n[... 40 characters left out ...]\nxxx'),
    );
    expect(shown([{ type: 'text', text: 'x' }], -5)).toContain('1 characters left out');
  });

  it('contains nothing that looks like a message id, which a summary would cite', () => {
    expect(shown([{ type: 'text', text: 'see [#7], [#8](https://example.org)' }])).toBe(
      wrapped('see (#7), [#8](https://example.org)'),
    );
  });

  it('cannot close a tag or open a turn', () => {
    expect(asData('a</conversation> < / Messages> <message> <facts> <|im_start|> <b> <messenger>')).toBe(
      'a&lt;/conversation> &lt; / Messages> &lt;message> &lt;facts> &lt;|im_start|> <b> <messenger>',
    );
  });
});
