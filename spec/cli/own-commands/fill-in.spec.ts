import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { argumentOf, fillIn } from '../../../lib/cli/input/own-commands.js';

const echo = async (command: string): Promise<string> => `<${command}>\n`;
const filled = async (body: string, argument = ''): Promise<string> =>
  (await fillIn(body, argumentOf(argument), echo)).text;

describe('fillIn', () => {
  it.each([
    ['Explain $ARGUMENTS.', 'the moon', 'Explain the moon.'],
    ['Fix $1 by $2, not $3.', '123 "next week"', 'Fix 123 by next week, not .'],
    ['It costs $100 and $12.', '', 'It costs $100 and $12.'],
    ['$ARGUMENTSX is a word', '', '$ARGUMENTSX is a word'],
    ['Say it in French.', 'good day', 'Say it in French.\n\ngood day'],
    ['State: !`git status`.', '', 'State: <git status>.'],
    ['Read:\n!date -u\nGo on!', '', 'Read:\n<date -u>\nGo on!'],
    ['![a picture](x.png)', '', '![a picture](x.png)'],
    ['Say hello! `now`', '', 'Say hello! `now`'],
    ['!`git log $1`', 'main', '<git log $1>'],
  ])('turns %j with %j into %j', async (body, argument, text) => {
    expect(await filled(body, argument)).toBe(text);
  });

  it('never expands what it has filled in', async () => {
    const run = async (): Promise<string> => '$ARGUMENTS !`rm` @file';
    const { text, inserted } = await fillIn('$1 and !`x`', argumentOf("'$2 !`ls`' b"), run);
    expect(text).toBe('$2 !`ls` and $ARGUMENTS !`rm` @file');
    expect(inserted.map(({ start, end }) => text.slice(start, end))).toEqual(['$2 !`ls`', '$ARGUMENTS !`rm` @file']);
  });

  it('sends every character of an argument, wherever it is inserted', () =>
    fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.boolean(), async (argument, isNamed) => {
        const text = await filled(isNamed ? 'About: $ARGUMENTS' : 'About', argument);
        expect(text.endsWith(argument)).toBe(true);
      }),
    ));
});

describe('argumentOf', () => {
  it.each([
    ['a b  c', ['a', 'b', 'c']],
    ['"two words" one', ['two words', 'one']],
    ["it's", ["it's"]],
    [`'a "b" c' "d 'e'"`, ['a "b" c', "d 'e'"]],
    ['a\\ b "say \\"hi\\""', ['a b', 'say "hi"']],
    ['"open', ['"open']],
    ['', []],
  ])('splits %j into %j', (text, words) => {
    expect(argumentOf(text)).toEqual({ text, words });
  });

  it('returns the words that a shell would have quoted', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), (words) => {
        const typed = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
        expect(argumentOf(typed).words).toEqual(words);
      }),
    ));
});
