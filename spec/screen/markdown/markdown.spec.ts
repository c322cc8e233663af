import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type Highlighter, loadHighlighter } from '../../../lib/screen/markdown/languages.js';
import { Markdown } from '../../../lib/screen/markdown/markdown.js';
import { StyledText } from '../../../lib/screen/text/styled-text.js';
import fc, { cases } from '../../support/properties.js';

const python = await loadHighlighter('python');
const find = (language: string): Highlighter | null => (language === 'python' ? (python?.() ?? null) : null);

function render(pieces: readonly string[], links = false): string {
  const markdown = new Markdown(find, new StyledText(), null, links);
  return pieces.map((piece) => markdown.push(piece)).join('') + markdown.end();
}

/** The text without what makes links of it. */
const unlinked = (text: string): string => text.replaceAll(/\x1b\]8;;[^\x1b]*\x1b\\/g, '');

/** The text with a short name for each styling in place of its sequence. */
function marked(text: string): string {
  const names: Record<string, string> = {
    0: '/',
    '0;1': 'B',
    '0;2': 'D',
    '0;3': 'I',
    '0;1;3': 'BI',
    '0;9': 'S',
    '0;36': 'C',
    '0;94': 'M',
  };
  return render([text]).replace(/\x1b\[([0-9;]*)m/g, (_, code: string) => `{${names[code] ?? code}}`);
}

/** Text with much Markdown in it, whole and broken. */
const markdownText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '*',
        '**',
        '***',
        '_',
        '__',
        '~~',
        '`',
        '``',
        '```',
        '```python\n',
        '\r\n',
        '\n',
        '\n\n',
        '# ',
        '- ',
        '1. ',
        '> ',
        '|',
        '---',
        '](',
        '[',
        ')',
        '\\',
        'https://',
        'https://a.example/b(c)é',
        '[text](',
        'http://c.example)',
        'h',
      ),
      fc.constantFrom(' ', 'word', 'a', 'def f(x):\n', 'É', '😀', '日本', '\t', '"""', "'"),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join('').replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, ''));

/** The text cut at these places; never inside a character, which the neutraliser before it sees to. */
function cut(text: string, lengths: readonly number[]): string[] {
  const characters = [...text];
  const pieces = lengths.map((length) => characters.splice(0, length).join(''));
  return [...pieces, characters.join('')];
}

describe('markdown', () => {
  it('changes nothing but the style, whatever the text', () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        expect(stripVTControlCharacters(render([text]))).toBe(text);
        expect(stripVTControlCharacters(unlinked(render([text], true)))).toBe(text);
      }),
      { numRuns: cases(400) },
    );
  });

  it('styles a text in chunks like the whole, however it is split', () => {
    fc.assert(
      fc.property(markdownText, fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 60 }), (text, lengths) => {
        for (const links of [false, true]) expect(render(cut(text, lengths), links)).toBe(render([text], links));
      }),
      { numRuns: cases(400) },
    );
  });

  it('resets the style at the end of every line', () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        let style = '0';
        let link = '';
        const shown = render([`${text}\n`], true);
        for (const [sequence, url] of shown.matchAll(/\n|\x1b\[[0-9;]*m|\x1b\]8;;([^\x1b]*)\x1b\\/g)) {
          if (sequence === '\n') expect([style, link]).toEqual(['0', '']);
          else if (url === undefined) style = sequence.slice(2, -1);
          else link = url;
        }
      }),
    );
  });

  it.each([
    ['a **bold** word', 'a {D}**{B}bold{D}**{/} word'],
    ['an *italic* word', 'an {D}*{I}italic{D}*{/} word'],
    ['***both***', '{D}***{BI}both{D}***{/}'],
    ['**bold and *both***', '{D}**{B}bold and {D}*{BI}both{D}***{/}'],
    ['~~gone~~', '{D}~~{S}gone{D}~~{/}'],
    ['`code` and ``co`de``', '{D}`{C}code{D}`{/} and {D}``{C}co`de{D}``{/}'],
    ['**not `closed** here`', '**not {D}`{C}closed** here{D}`{/}'],
  ])('shows the emphasis of %s', (text, expected) => {
    expect(marked(text)).toBe(expected);
  });

  it.each([
    '2 * 3 * 4',
    'snake_case_name',
    '5 ** 2',
    'a \\*literal\\* star',
    '~tilde~',
    'file_*',
    '#hashtag',
    '-dash',
    '1.5 times',
    'graph',
  ])('treats nothing as a mark in: %s', (text) => {
    expect(render([text])).toBe(text);
  });

  it('shows the marks at the start of a line', () => {
    expect(marked('# Title\ntext')).toBe('{0;1;4}# Title{/}\ntext');
    expect(marked('### Part')).toBe('{B}### Part{/}');
    expect(marked('- one\n  * two\n1. three')).toBe('{M}-{/} one\n  {M}*{/} two\n{M}1.{/} three');
    expect(marked('> quoted **b**')).toBe('{D}>{/} quoted {D}**{B}b{D}**{/}');
    expect(marked('---\n***\n')).toBe('{D}---{/}\n{D}***{/}\n');
  });

  it('dims the lines of a table', () => {
    expect(marked('| a | b |\n|---|:-:|\n| 1 | 2 |')).toBe(
      '{D}|{/} a {D}|{/} b {D}|{/}\n{D}|---|:-:|{/}\n{D}|{/} 1 {D}|{/} 2 {D}|{/}',
    );
  });

  it('underlines addresses but not the words around them', () => {
    expect(marked('see https://a.example/x_y_z, or (http://b.example)')).toBe(
      'see {4}https://a.example/x_y_z,{/} or ({4}http://b.example{/})'.replaceAll('{4}', '{0;4}'),
    );
    expect(marked('[text](http://c.example) on')).toBe('[text{D}]({0;2;4}http://c.example{D}){/} on');
  });

  it.each([
    ['see https://a.example/x, or', 'see {>https://a.example/x}https://a.example/x,{>} or'],
    ['[the text](http://c.example "title") on', '{>http://c.example/}[the text](http://c.example "title"){>} on'],
    ['[**b** `](`](http://c.example)', '[**b** `](`](http://c.example)'],
    [
      '[x] [y] (z) [a](b/c.md) [d](javascript:alert(1)) [e](mailto:f@g.example)',
      '[x] [y] (z) [a](b/c.md) [d](javascript:alert(1)) {>mailto:f@g.example}[e](mailto:f@g.example){>}',
    ],
    ['[é](https://ü.example/ä)', '{>https://xn--tda.example/%C3%A4}[é](https://ü.example/ä){>}'],
    ['`https://a.example` in code', '`https://a.example` in code'],
  ])('makes a terminal link of a link: %s', (text, expected) => {
    const links = stripVTControlCharacters(
      render([text], true).replaceAll(/\x1b\]8;;([^\x1b]*)\x1b\\/g, (_, url: string) => `{>${url}}`),
    );
    expect(links).toBe(expected);
  });

  it('colours code line by line and remembers what earlier lines left open', () => {
    const shown = marked('```python\ndef f():\n  """doc\n  more"""\n```\n*after*');
    expect(shown).toContain('{D}```python{/}\n{0;35}def{/} {M}f{/}():\n');
    expect(shown).toContain('{0;32}  more"""{/}\n{D}```{/}\n{D}*{I}after');
  });

  it('leaves code in an unknown language plain', () => {
    expect(marked('```klingon\n**no** _emphasis_\n```\n')).toBe('{D}```klingon{/}\n**no** _emphasis_\n{D}```{/}\n');
  });

  it('closes a fence with as many marks as opened it', () => {
    expect(marked('````\n```\n````\n**b**')).toBe('{D}````{/}\n```\n{D}````{/}\n{D}**{B}b{D}**{/}');
  });

  it.each([
    '**open\nclosed**',
    'Use *args and **kwargs here, fine.',
    '_init and then',
    'a *b, 2 * 3 c',
    'one `tick',
    '``two ` ticks',
    `a *star ${'far away '.repeat(80)}from* its end`,
  ])('treats marks that are not closed in their line as text: %s', (text) => {
    expect(render([text])).toBe(text);
  });

  it('uses the inner of two opening marks if only one closing mark follows', () => {
    expect(marked('*a *b*')).toBe('*a {D}*{I}b{D}*{/}');
  });

  it('holds text back while a language is loading', async () => {
    let load = (_: Highlighter | null): void => {};
    const markdown = new Markdown(() => new Promise((resolve) => (load = resolve)), new StyledText());
    expect(markdown.push('```x\ncode\n')).toBe('\x1b[0;2m```x');
    load((line, put) => put(line, '35'));
    await markdown.loading;
    expect(markdown.push('')).toBe('\x1b[0m\n\x1b[0;35mcode\x1b[0m\n');
  });
});
