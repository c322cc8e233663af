import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  asLine,
  factsToReview,
  type LineOrigin,
  lineNamed,
  linesOf,
  sentMemory,
  withLine,
  withLineReplaced,
  withOffered,
} from '../../lib/memory/memory-text.js';

const ORIGIN: LineOrigin = { by: 'user', at: '2026-11-23T10:00:00Z', id: 12 };

/** Texts that a user may say, with what has a meaning in Markdown and in comments. */
const said = fc
  .array(fc.constantFrom('<!--', '-->', '<\\!--', '\\', '- ', '#', 'use', ' ', '\n', '\r\n', 'ä', '\u0007', '1. '))
  .map((pieces) => `x${pieces.join('')}y`);

describe('a line of the memory', () => {
  it('is sent as it was said, and never its comment', () => {
    fc.assert(
      fc.property(fc.array(said, { maxLength: 8 }), (texts) => {
        const source = texts.reduce((before, text) => withLine(before, text, ORIGIN), '');
        expect(linesOf(source)).toEqual(
          texts.map((text, index) => ({ line: index + 1, text: asLine(text), origin: ORIGIN })),
        );
        expect(sentMemory(source).text).toBe(texts.map((text) => `- ${asLine(text)}`).join('\n'));
      }),
    );
  });

  it('hides nothing that was sent before, whatever the user wrote by hand', () => {
    const written = fc
      .array(fc.constantFrom('<!--', '-->', '<\\!--', '- ', 'x', ' ', '\n', '```'), { maxLength: 12 })
      .map((pieces) => `${pieces.join('')}\n`);
    fc.assert(
      fc.property(written, said, (source, text) => {
        const before = linesOf(source).map((line) => line.text);
        expect(linesOf(withLine(source, text, ORIGIN)).map((line) => line.text)).toEqual([...before, asLine(text)]);
      }),
    );
  });

  it('is replaced in its place, and the others stay byte for byte', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 6 }), said, fc.nat(), (texts, text, at) => {
        const source = `# Wishes\r\n\r\n${texts.reduce((before, one) => withLine(before, one, ORIGIN), '')}`;
        const line = linesOf(source)[1 + (at % texts.length)];
        if (line === undefined) throw new Error('There is a line.');
        const rows = withLineReplaced(source, line, text, ORIGIN).split('\n');
        expect(linesOf(rows.join('\n')).find((one) => one.line === line.line)?.text).toBe(asLine(text));
        expect(rows.filter((_, index) => index !== line.line - 1)).toEqual(
          source.split('\n').filter((_, index) => index !== line.line - 1),
        );
      }),
    );
  });

  it('is named by its text, or by words that no other line contains', () => {
    const source = '- Use pnpm <!-- user 2026-11-23T10:00:00Z -->\n- Use pnpm in work\n* Metric units\n';
    expect(lineNamed(source, '- use PNPM')?.line).toBe(1);
    expect(lineNamed(source, 'in work')?.line).toBe(2);
    expect(lineNamed(source, 'pnp')).toBeNull();
    expect(lineNamed(source, 'imperial')).toBeNull();
    expect(lineNamed(source, '  ')).toBeNull();
  });
});

describe('the text that is sent', () => {
  it('is the Markdown without comments and their empty lines', () => {
    const source = '<!-- mine\nonly -->\n\n# Style\n\n\n- Short <!-- user x -->\n\n<!-- a -->\n\nEnd <!-- open\n';
    expect(sentMemory(source).text).toBe('# Style\n\n- Short\n\nEnd <!-- open');
  });

  it('ends with the last whole line that fits, and the limit counts what is sent', () => {
    const rows = Array.from(
      { length: 100 },
      (_, index) => `- ${String(index).padEnd(58, 'x')}<!-- ${'y'.repeat(90)} -->`,
    );
    const { text, tokens, leftOutFrom } = sentMemory(rows.join('\n'));
    expect([text.length, tokens, leftOutFrom]).toEqual([65 * 61 - 1, 1525, 66]);
    expect(sentMemory('x'.repeat(4000))).toMatchObject({ tokens: 1000, leftOutFrom: null });
    expect(sentMemory('x'.repeat(4001))).toEqual({ text: '', tokens: 1001, leftOutFrom: 1 });
  });

  it('is computed quickly for a file full of comment openings', () => {
    const began = performance.now();
    sentMemory('<!-- '.repeat(200_000));
    linesOf('<!-- a -->\n'.repeat(90_000));
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

describe('a fact of a summary', () => {
  const block = (facts: readonly object[]) =>
    [
      {
        ...{ id: 9, at: '', type: 'compress', content: '', strategy: 'summary', source: 'model', first_kept: null },
        ...{ messages_compacted: 1, messages_kept: 0, tokens_before: 1, tokens_after: 1, state: { facts } },
      },
    ] as never;
  const facts = [
    { kind: 'pref', text: 'Metric units.' },
    { kind: 'fact', text: 'The server is called atlas.' },
    { kind: 'decision', text: 'Use pnpm.' },
  ];

  it('is offered if it is an instruction or a decision, once, and not if it is remembered', () => {
    const texts = (source: string) => factsToReview(block(facts), source).map(({ text }) => text);
    expect(texts('')).toEqual(['Metric units.', 'Use pnpm.']);
    expect(texts('* use  PNPM.\n')).toEqual(['Metric units.']);
    const once = withOffered('- a', { text: 'Metric units.' });
    const twice = withOffered(once, { text: 'use pnpm.' });
    expect([texts(once), texts(twice)]).toEqual([['Use pnpm.'], []]);
    expect(sentMemory(twice).text).toBe('- a');
    expect(twice).not.toMatch(/pnpm|Metric/);
    expect(twice.split('\n')).toHaveLength(3);
  });
});
