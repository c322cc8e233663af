import { describe, expect, it } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { neutralise } from '../../lib/screen/text/neutralise.js';
import { elementsOf, forbiddenIn, message, pageOf, withClass } from '../support/pages.js';
import fc, { cases } from '../support/properties.js';

/** Pieces that end attributes, elements and the parser's patience. */
const PIECES = [
  '<script>window.hacked = 1</script>',
  '</script><img src=x onerror=alert(1)>',
  '</noscript></style></title></textarea></pre></article><svg onload=alert(1)>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '"><iframe src="https://a.example">',
  "' onmouseover='alert(1)",
  '[a](javascript:alert(1))',
  '[a](  JaVaScRiPt:alert(1))',
  '[b](data:text/html,<script>1</script>)',
  '[c](vbscript:x "t")',
  '<javascript:alert(1)>',
  '<https://a.example/"onclick=x>',
  'https://a.example/<b>',
  '[d](https://a.example/"><b>)',
  '[e]: javascript:alert(1)\n[e]',
  '| a | b |\n|:-:|--:|\n| "x | <y> |',
  '```"><script>\n</code></pre><script>\n```\n',
  '```js onload=x\nlet a = "</script>";\n',
  '~~~html\n<body onload=x>\n~~~\n',
  '&lt;b&gt; &#60;i&#62; &#x202e; &#0; &amp;lt;',
  '\u202e\u2066\u2028\x1b[31m\x00\x07\x9b\ud800\udc00\udbff',
  `e${'\u0301'.repeat(40)}`,
  '\r\n',
  '\r',
  '# ',
  '> - 1. ',
  '**_~~`',
  '\\',
  '\n',
  '\n\n',
  ' ',
  'word',
  '$',
  '$$',
  '\\[',
  '\\frac{<b>}{"x}',
];

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })), {
    minLength: 1,
    maxLength: 14,
  })
  .map((pieces) => pieces.join(''));

/** As the parser of a page sees text. */
const asParsed = (text: string): string => neutralise(text).replaceAll('\r\n', '\n');

describe('a page with hostile messages', () => {
  it('contains only its own elements and attributes, whoever wrote the message', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (one, other) => {
        const call = { type: 'tool_call', call_id: one, name: other, args: { [one]: other } } as const;
        const result = { type: 'tool_result', call_id: one, name: one, result: [other] } as const;
        const html = await pageOf([
          message(1, 'user', one, { at: other }),
          message(2, 'assistant', `${other}\n\n${one}`, { model: one }),
          message(3, 'assistant', [call], { sources: [{ url: one, title: other }] }),
          message(4, 'tool', [result]),
          message(5, 'user', [{ type: 'document', mime: one, sha256: 'x', bytes: 1, name: other }]),
          { type: 'unknown', id: 6, at: one, what: other },
        ]);
        const elements = elementsOf(html);
        expect(forbiddenIn(elements)).toEqual([]);
        expect(html).toBe(neutralise(html));
        expect(elements.filter(({ name }) => name === 'article')).toHaveLength(one.trim() === '' ? 4 : 5);
      }),
      { numRuns: cases(20) },
    );
  });

  it("shows the user's text, character by character", async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        fc.pre(text.trim() !== '');
        const [typed] = withClass(elementsOf(await pageOf([message(1, 'user', text)])), 'typed');
        expect(typed?.text).toBe(asParsed(text));
      }),
      { numRuns: cases(20) },
    );
  });

  it('shows all the words of an answer, as a Markdown parser without HTML reads them', async () => {
    const plain = new MarkdownIt({ html: false, breaks: true });
    plain.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url);
    plain.normalizeLinkText = (url) => url;
    const words = (text: string): string => text.replace(/\s+/g, '');
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        // Formulas and pictures are shown otherwise on purpose.
        fc.pre(!/\\[([]|\$[\s\S]*\$|!\[|\[\s*\]|\[\^/.test(text) && text.trim() !== '');
        const [body] = withClass(elementsOf(await pageOf([message(1, 'assistant', text)])), 'body');
        const [expected] = elementsOf(`<div>${neutralise(plain.render(text))}</div>`);
        expect(words(body?.text ?? '')).toBe(words(expected?.text ?? ''));
      }),
      { numRuns: cases(20) },
    );
  });

  it.each([
    ['links without words', '[](https://a.example/) [![](https://b.example/)](https://c.example/)'],
    [
      'pictures of the web',
      '![alt](https://a.example/x.png) ![](https://b.example/) [![in](https://c.example/)](https://d.example/)',
    ],
  ])('shows %s as text, and loads nothing', async (_what, text) => {
    const elements = elementsOf(await pageOf([message(1, 'assistant', text)]));
    const links = elements.filter(({ attributes }) => attributes.rel !== undefined);
    expect(links.length).toBeGreaterThan(1);
    expect(links.filter(({ text: words }) => words.trim() === '')).toEqual([]);
    expect(elements.filter(({ name }) => name === 'img')).toEqual([]);
  });

  it('skips no level of headings, and has none without words', async () => {
    const answer = '##### deep\n# top\n#\n### third\n###### sixth\n# &#32;\n\n| |b|\n|-|-|\n|1|2|';
    const elements = elementsOf(await pageOf([message(1, 'assistant', answer)]));
    const levels = elements
      .filter(({ name }) => /^h[1-6]$/.test(name))
      .map(({ name, text }) => `${name} ${text.slice(0, 5)}`);
    expect(levels.slice(3)).toEqual(['h4 deep', 'h4 top', 'h5 third', 'h6 sixth']);
    expect(elements.filter(({ name }) => name === 'th').map(({ text }) => text)).toEqual(['b']);
  });

  it.each([
    ['openings of links', '['.repeat(10_000)],
    ['emphasis', '*a **a '.repeat(10_000)],
    ['links', '[a](https://a.example/) '.repeat(2_000)],
    ['pictures', '![a](https://a.example/) '.repeat(2_000)],
    ['quotes', '> '.repeat(10_000)],
    ['a very long text', 'word '.repeat(200_000)],
  ])('takes no longer for many %s than for other text', async (_what, text) => {
    const before = process.cpuUsage();
    await pageOf([message(1, 'assistant', text)]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(10);
  });
});
