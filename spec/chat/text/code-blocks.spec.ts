import { describe, expect, it } from '@jest/globals';
import { codeBlocks } from '../../../lib/chat/marked-text.js';
import fc from '../../support/properties.js';

const codes = (text: string): readonly string[] => codeBlocks(text).map(({ code }) => code);

describe('the code blocks of an answer', () => {
  it.each([
    ['```sh\nls\n```', ['ls']],
    ['1. Install:\n   ```sh\n   npm install\n     --save\n   ```\n', ['npm install\n  --save']],
    ['- ```\n  a\n  ```', ['a']],
    ['> ```\n> quoted\n> ```\nrest', ['quoted']],
    ['~~~\n```\nb\n```\n~~~', ['```\nb\n```']],
    ['````\n```\n````\n\n```\nc\n```', ['```', 'c']],
    ['```\ncut off', ['cut off']],
    ['```', []],
    ['no `code` in ```a``` fence', []],
    ['```\r\nls\r\n```\r\n', ['ls']],
  ])('in %j are %j', (text, expected) => {
    expect(codes(text)).toEqual(expected);
  });

  it('are exactly the text between fences, at any depth of a list', () => {
    const line = fc.stringMatching(/^[ a-z]{0,10}$/);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 8 }), (lines, depth) => {
        const indent = ' '.repeat(depth);
        const fenced = ['```text', ...lines, '```'].map((one) => indent + one).join('\n');
        expect(codes(`before\n${fenced}\nafter`)).toEqual([lines.join('\n')]);
      }),
    );
  });
});
