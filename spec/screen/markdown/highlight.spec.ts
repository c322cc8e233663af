import { describe, expect, it } from '@jest/globals';
import { type Highlighter, loadHighlighter } from '../../../lib/screen/markdown/languages.js';
import { PLAIN } from '../../../lib/screen/text/styled-text.js';

const NAMES: Record<string, string> = {
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  94: 'blue',
  35: 'pink',
  36: 'cyan',
};

async function highlighterOf(language: string): Promise<Highlighter> {
  const create = await loadHighlighter(language);
  if (create === null) throw new Error(`There are no colours for ${language}.`);
  return create();
}

/** The code with its colours as names around what has one. */
async function coloured(language: string, code: string): Promise<string> {
  const highlight = await highlighterOf(language);
  let shown = '';
  for (const line of code.split('\n')) {
    highlight(line, (text, style) => {
      shown += style === PLAIN ? text : `<${NAMES[style] ?? style} ${text}>`;
    });
    shown += '\n';
  }
  return shown.slice(0, -1);
}

describe('the colours of code', () => {
  it.each([
    ['html', '<a b="c">x</a>', '<blue <><blue a> <cyan b>=<green "c"><blue >>x<blue </><blue a><blue >>'],
    ['c', 'static int x;', '<pink static> <cyan int> x;'],
    ['php', '<?php return "$a \\" b" . $c; # d', '<dim <?php> <pink return> <green "$a \\" b"> . <cyan $c>; <dim # d>'],
    ['php', '/* a\nb */ fn "c\nd"', '<dim /* a>\n<dim b */> <pink fn> <green "c>\n<green d">'],
    ['elixir', 'def a?(x), do: :ok # c', '<pink def> a?(x), <yellow do:> <yellow :ok> <dim # c>'],
    ['elixir', '"""\na "b"\n""" end', '<green """>\n<green a "b">\n<green """> <pink end>'],
    ['makefile', 'all: a.o # c\n\tcc $@ $(X)', '<blue all>: a.o <dim # c>\n\tcc <cyan $@> <cyan $(X)>'],
    ['make', 'CC := gcc', '<blue CC> := gcc'],
    ['terraform', 'resource "a" { n = true }', '<pink resource> <green "a"> { <cyan n> = <yellow true> }'],
    ['zig', 'const s = @f(0x1F); // c', '<pink const> s = <cyan @f>(<yellow 0x1F>); <dim // c>'],
    ['graphql', 'query Q($i: ID!) { a }', '<pink query> Q(<cyan $i>: <cyan ID>!) { a }'],
  ])('match %s: %s', async (language, code, shown) => {
    expect(await coloured(language, code)).toBe(shown);
  });

  it.each(['php', 'elixir', 'makefile', 'hcl', 'zig', 'graphql'])(
    'of %s take as long as a line is, and change nothing of it',
    async (language) => {
      for (const unit of ['a', '-', '%', '"', "'", ':"', '$(', '$', '<', '#', '/*', '1', 'a:', '=', ' ', '\\', '\n']) {
        const line = unit.repeat(40_000);
        const highlight = await highlighterOf(language);
        let shown = '';
        const began = performance.now();
        highlight(line, (text) => {
          shown += text;
        });
        expect(performance.now() - began).toBeLessThan(2000);
        expect(shown).toBe(line);
      }
    },
  );
});
