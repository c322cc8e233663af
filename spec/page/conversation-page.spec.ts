import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CompressBlock } from '../../lib/chat/entry.js';
import type { Part } from '../../lib/chat/message.js';
import { elementsOf, forbiddenIn, message, pageOf, withClass } from '../support/pages.js';
import { png } from '../support/pictures.js';

const BLOCK: CompressBlock = {
  type: 'compress',
  id: 9,
  at: '2026-11-25T09:30:00.000Z',
  content: '# Record\n\nThey spoke of **herons**.',
  strategy: 'summary',
  source: 'model',
  first_kept: 2,
  messages_compacted: 42,
  messages_kept: 6,
  tokens_before: 101_000 as CompressBlock['tokens_before'],
  tokens_after: 14_000 as CompressBlock['tokens_after'],
};

const textOf = async (content: string | readonly Part[], role: 'user' | 'assistant' | 'tool' = 'assistant') =>
  withClass(elementsOf(await pageOf([message(1, role, content)])), 'body')[0];

describe('the page of a conversation', () => {
  it('has days, messages with their time and marks, in the given order', async () => {
    const html = await pageOf([
      message(1, 'user', 'first'),
      message(2, 'assistant', 'second', { turn: 1, model: 'm-1', at: '2026-11-23T09:30:00.000Z' }),
      BLOCK,
      message(3, 'user', 'third', { at: '2026-11-23T09:40:00.000Z', stop_reason: 'interrupted' }),
      { type: 'undo', id: 10, at: '2026-11-26T09:30:00.000Z', turns: [1, 3] },
    ]);
    const elements = elementsOf(html);
    const days = elements.filter(({ name }) => name === 'section');
    expect(days.map(({ attributes }) => attributes['data-month'])).toEqual(['Nov 2026', 'Nov 2026']);
    expect(elements.filter(({ name }) => name === 'h2').map(({ text }) => text)).toEqual([
      'Sun 22 Nov 2026',
      'Mon 23 Nov 2026',
    ]);
    const headings = elements.filter(({ name }) => name === 'h3').map(({ text }) => text.replace(/\d\d:\d\d/, 'TIME'));
    expect(headings).toEqual(['you TIME', 'm-1 TIME', 'you TIME']);
    const [compaction, undo] = withClass(elements, 'mark');
    expect(compaction?.text).toContain('42 messages compacted · 6 kept · 101k → 14k tokens');
    expect(compaction?.text).toContain('They spoke of herons.');
    expect(undo).toMatchObject({ attributes: { 'data-undone': '1 3' }, text: 'undone: turn 1, 3' });
    expect(withClass(elements, 'note').map(({ text }) => text)).toEqual(['interrupted']);
    expect(html.indexOf('second')).toBeLessThan(html.indexOf('compacted'));
    expect(html.indexOf('compacted')).toBeLessThan(html.indexOf('third'));
    expect(forbiddenIn(elements)).toEqual([]);
  });

  it('allows one script and one style, by their digests, and its own pictures, nothing else', async () => {
    const elements = elementsOf(await pageOf([message(1, 'user', 'a')]));
    const policy = elements.find(({ attributes }) => attributes['http-equiv'] !== undefined)?.attributes.content;
    const digests = ['style', 'script'].map((name) => {
      const found = elements.filter((element) => element.name === name);
      expect(found).toHaveLength(1);
      return `${name}-src 'sha256-${createHash('sha256')
        .update(found[0]?.text ?? '')
        .digest('base64')}'`;
    });
    expect(policy?.split('; ').sort()).toEqual(
      ["default-src 'none'", 'img-src data:', ...digests, "base-uri 'none'", "form-action 'none'"].sort(),
    );
  });

  it('says so if there are no messages', async () => {
    const elements = elementsOf(await pageOf([]));
    expect(elements.find(({ name }) => name === 'main')?.text.trim()).toBe('No messages.');
  });

  it('is split into parts, so that a browser renders only what is visible', async () => {
    const entries = Array.from({ length: 100 }, (_, place) => message(place + 1, 'user', `word ${place}`));
    const elements = elementsOf(await pageOf(entries));
    expect(withClass(elements, 'part').map(({ children }) => children.map(({ name }) => name))).toEqual([
      Array(40).fill('article'),
      ['noscript'],
      ['noscript'],
    ]);
    expect(elements.filter(({ name }) => name === 'article')).toHaveLength(100);
  });

  it('colours code by its language, and keeps its text', async () => {
    const code = 'def f(x):\n    # why\n    return "a < b"\n';
    const body = await textOf(`\`\`\`python\n${code}\`\`\`\n\n\`\`\`nonsense\na & b\n\`\`\``);
    const [python, nonsense] = body?.children ?? [];
    expect(python).toMatchObject({ name: 'pre', text: code.trimEnd(), attributes: { 'data-language': 'python' } });
    const spans = python?.children[0]?.children.map(({ attributes, text }) => [attributes.class, text]);
    expect(spans).toEqual(
      expect.arrayContaining([
        ['keyword', 'def'],
        ['comment', '# why'],
        ['string', '"a < b"'],
      ]),
    );
    expect(nonsense).toMatchObject({ text: 'a & b' });
  });

  it('shows the boxes of tasks and the numbers of footnotes', async () => {
    const text =
      'So it is[^1], or not[^two].\n\n- [ ] open\n- [x] done\n\n[^1]: https://a.example/\n[^two]: Or *this*.';
    const body = await textOf(text);
    expect(body?.text.replace(/\s+/g, ' ').trim()).toBe(
      'So it is1, or nottwo. ☐ open ☑ done 1 https://a.example/ two Or this.',
    );
    expect(body?.children.at(-2)?.children.map(({ name }) => name)).toEqual(['sup', 'a']);
  });

  it("shows the user's text unchanged, and folds files and commands", async () => {
    const typed = '# not a heading\n  *args   **kwargs\n<b>no</b>';
    expect((await textOf(typed, 'user'))?.children).toMatchObject([{ name: 'p', text: typed, children: [] }]);
    const file = await textOf('<file name="a&b.txt">\n\n one\n</file>', 'user');
    expect(file?.children[0]?.children).toMatchObject([{ text: 'a&b.txt' }, { name: 'pre', text: '\n one\n' }]);
    const report = 'I ran this command myself: ls -l\n\n<output>\ntotal 0\n</output>';
    expect((await textOf(report, 'user'))?.children[0]?.children).toMatchObject([
      { text: '!ls -l' },
      { text: 'total 0' },
    ]);
  });

  it('folds tool calls and their results', async () => {
    const call = await textOf([{ type: 'tool_call', call_id: 'a', name: 'bash', args: { command: 'ls\npwd', n: 1 } }]);
    expect(call?.children).toMatchObject([{ name: 'details', attributes: { class: 'call' } }]);
    expect(call?.children[0]?.children.map(({ text }) => text)).toEqual(['bash ls', 'command:\nls\npwd\nn: 1']);
    const failed = await textOf([{ type: 'tool_result', call_id: 'a', name: 'bash', error: 'No <shell>.' }], 'tool');
    expect(failed?.children[0]).toMatchObject({ attributes: { class: 'failed' }, text: 'bash failedNo <shell>.' });
    const long = 'x'.repeat(30_000);
    const cut = await textOf([{ type: 'tool_result', call_id: 'a', name: 't', result: { long } }], 'tool');
    expect(cut?.text).toContain('(30,006 characters)');
    expect(cut?.text.length).toBeLessThan(20_100);
  });

  it('contains pictures, says which are lost, and names other files', async () => {
    const bytes = png(2, 3);
    const image = { type: 'image', mime: 'image/png', sha256: 'a', bytes: bytes.length, width: 2, height: 3 } as const;
    const content: readonly Part[] = [
      { ...image, name: '"><b>.png' },
      { ...image, sha256: 'gone' },
      { ...image, mime: 'image/svg+xml' },
      { type: 'document', mime: 'application/pdf', sha256: 'd', bytes: 2000, name: 'paper.pdf' },
    ];
    const elements = elementsOf(await pageOf([message(1, 'user', content)], { a: bytes, d: bytes }));
    expect(elements.filter(({ name }) => name === 'img').map(({ attributes }) => attributes)).toMatchObject([
      { alt: '"><b>.png', width: '2', height: '3', src: `data:image/png;base64,${bytes.toString('base64')}` },
    ]);
    expect(withClass(elements, 'note').map(({ text }) => text)).toEqual([
      `[image: image/png, ${bytes.length} bytes]: lost`,
      `[image: image/svg+xml, ${bytes.length} bytes]`,
      '[document: paper.pdf, 2 kB]',
    ]);
    expect(forbiddenIn(elements)).toEqual([]);
  });

  it('lists sources as links, and leaves out what hi added or nobody can read', async () => {
    const sources = [{ url: 'https://a.example/?a&b', title: 'A <b>' }, { url: 'javascript:alert(1)' }];
    const content: readonly Part[] = [
      { type: 'thinking', text: 'secret thought' },
      { type: 'text', text: 'It is noon.', clock: true },
      { type: 'text', text: 'recalled words', recalled: [1, 2] },
    ];
    const elements = elementsOf(await pageOf([message(1, 'assistant', content, { sources })]));
    expect(withClass(elements, 'body')[0]?.text).toBe('⌕ 2 recalled\nSourcesA <b>javascript:alert(1)');
    const links = elements.filter(({ name, attributes }) => name === 'a' && attributes.rel !== undefined);
    expect(links.map(({ attributes }) => attributes.href)).toEqual(['https://a.example/?a&b']);
  });
});
