import { describe, expect, it } from '@jest/globals';
import { elementsOf, forbiddenIn, message, pageOf, withClass } from '../support/pages.js';
import fc, { cases } from '../support/properties.js';

const bodyOf = async (text: string) => withClass(elementsOf(await pageOf([message(1, 'assistant', text)])), 'body')[0];

/** The formulas in an answer: their LaTeX. */
async function formulasIn(text: string): Promise<readonly string[]> {
  const elements = elementsOf(await pageOf([message(1, 'assistant', text)]));
  return elements.filter(({ name }) => name === 'annotation').map((annotation) => annotation.text);
}

describe('formulas in the page of a conversation', () => {
  it('are MathML, with their source', async () => {
    const body = await bodyOf('Sum: $x_1^2$');
    const [math] = body?.children[0]?.children ?? [];
    expect(math).toMatchObject({ name: 'math', attributes: {} });
    expect(math?.children[0]?.children.map(({ name }) => name)).toEqual(['msubsup', 'annotation']);
    expect(math?.children[0]?.children[0]?.children.map(({ name, text }) => [name, text])).toEqual([
      ['mi', 'x'],
      ['mn', '1'],
      ['mn', '2'],
    ]);
  });

  it('stand between dollars, parentheses and brackets, whatever Markdown would make of them', async () => {
    const text = 'Sum \\(a_1 * b_1 * c\\) and $$x_1 y_2$$ and \\[ \\frac{a}{b} \\], $n$th, $\\$5$, \\(open, \\$x$';
    expect(await formulasIn(text)).toEqual(['a_1 * b_1 * c', 'x_1 y_2', ' \\frac{a}{b} ', 'n', '\\$5']);
    expect(await formulasIn('| a |\n|-|\n| $x^2$ |\n\n# $y$\n\n- *$z_1$*')).toEqual(['x^2', 'y', 'z_1']);
  });

  it.each([
    ['prices', 'Between $5 and $10, US$7 and US$8, $5k-$10k or $ 3 $'],
    ['variables', 'in $HOME or $PATH or $ {A} $'],
    ['code', '`$x$` and the $PATH, `$y$ and \\(z\\)`'],
    ['marks without a formula', '$$ $$ \\(\\) $$$$'],
    ['escaped dollars', '\\$x$ and \\$y$'],
  ])('are not read into %s', async (_what, text) => {
    expect(await formulasIn(text)).toEqual([]);
  });

  it('are not read into blocks of code', async () => {
    expect(await formulasIn('```latex\n$$\nx\n$$\n```\n\n    $$x$$\n')).toEqual([]);
  });

  it('may take several lines, but for a blank one, and begin in a paragraph, a quote or an item', async () => {
    const lines = '\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}';
    for (const text of [`$$\n${lines}\n$$`, `So:\n\\[${lines}\\]\nand on.`, `  $$${lines}$$`])
      expect((await formulasIn(text)).map((found) => found.trim())).toEqual([lines]);
    const item = await bodyOf('- Thus\n  $$\n  x\n  - y\n  $$\n- next\n\n> $$\n> z\n> $$');
    expect(item?.children.map(({ name, children }) => [name, children.length])).toEqual([
      ['ul', 2],
      ['blockquote', 1],
    ]);
    expect(await formulasIn('$$\na\n\nb\n$$')).toEqual([]);
    expect(await formulasIn('$$a$$ is one, $$b$$ another')).toEqual(['a', 'b']);
  });

  it.each([
    '$\\unknown{x}$',
    '$\\href{javascript:alert(1)}{x}$',
    '$\\includegraphics{https://a.example/x.png}$',
    '$\\class{a}{x}$',
    '$\\def\\a{\\a\\a}\\a$',
    '$\\frac{a}$',
    `$${'x+'.repeat(3000)}y$`,
    '$$\\unknown\n_a_\n$$',
  ])('are shown as written where they cannot be read: %#', async (text) => {
    const elements = elementsOf(await pageOf([message(1, 'assistant', text)]));
    expect(withClass(elements, 'math').map((element) => element.text)).toEqual([text]);
    expect(forbiddenIn(elements)).toEqual([]);
  });

  it('take no longer, and no more space, than others, however they are nested', async () => {
    const hostile = ['\\mathllap', '\\cancelto{a}', '\\equilibriumRight'].map(
      (name) => `$${`${name}{`.repeat(40)}x${'}'.repeat(40)}$`,
    );
    const before = process.cpuUsage();
    const html = await pageOf([message(1, 'assistant', [...hostile, '$\\rule{9999em}{9999em}$'].join('\n\n'))]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(15);
    expect(withClass(elementsOf(html), 'math').map(({ text }) => text)).toEqual(hostile);
    expect(html).not.toContain('"9999em"');
  });

  it('have only elements and attributes of MathML, and keep what is around them', async () => {
    const pieces = [
      '\\color{red}',
      '\\textcolor{#f00}{x}',
      '\\colorbox{red}{x}',
      '\\text{<b onclick=x>"&amp;}',
      '\\begin{array}{c|c}a&b\\\\\\hline c&d\\end{array}',
      '\\begin{align}a&=b\\tag{1}\\end{align}',
      '\\boxed{x}',
      '\\cancel{x}',
      '\\label{a"b}',
      '\\ref{<i>}',
      '\\url{https://a.example/}',
      '\\toggle{a}{b}\\endtoggle',
      '\\kern-99em',
      '\\raisebox{-9em}{x}',
      '\\vec{x}\\widehat{xyz}\\overbrace{a}^b',
      '\\left(\\frac12\\right]',
      '\\ce{H2O <=> H+}',
      '\\operatorname{a b}',
      '\\sqrt[3]{x}',
      '\\prescript{a}{b}{c}',
      '\\verb|<script>|',
      '{',
      '}',
      '^',
      '_',
      '&',
      '<',
      '"',
      "'",
      '\\\\',
      'x',
      '%',
      '#1',
    ];
    const formula = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));
    await fc.assert(
      fc.asyncProperty(formula, fc.constantFrom('$$', '$'), async (latex, mark) => {
        const elements = elementsOf(await pageOf([message(1, 'assistant', `Before ${mark}${latex}${mark} after`)]));
        expect(forbiddenIn(elements)).toEqual([]);
        expect(withClass(elements, 'body')[0]?.text).toMatch(/^Before [\s\S]* after\s*$/);
      }),
      { numRuns: cases(60) },
    );
  });

  it.each([
    ['openings of formulas', '\\('.repeat(10_000)],
    ['openings of lines', '$$ a\\\n'.repeat(10_000)],
    ['dollars', '$a '.repeat(20_000)],
    ['lines between dollars', '$$a$$ b\n'.repeat(3_000)],
    ['formulas', '$x$ '.repeat(50_000)],
  ])('take no longer for many %s than other text', async (_what, text) => {
    const before = process.cpuUsage();
    await pageOf([message(1, 'assistant', text)]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(15);
  });
});
