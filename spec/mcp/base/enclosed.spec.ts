import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type EnclosingTag, enclosed } from '../../../lib/mcp/base/enclosed.js';

const TAGS: readonly EnclosingTag[] = ['server', 'resource', 'prompt'];
const pieces = fc.constantFrom(
  '<',
  '/',
  '</',
  ' ',
  '\t',
  'server',
  'RESOURCE',
  'prompt',
  '>',
  'x',
  '\\',
  '\n',
  '<server name="b">',
);

describe("the block of a server's words", () => {
  it.each(TAGS)('is ended by nothing in them: %s', (tag) => {
    const end = new RegExp(`<\\s{0,8}/\\s{0,8}${tag}\\b`, 'giu');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (words) => {
        const block = enclosed(tag, { name: 'a' }, words.join(''));
        expect([...block.matchAll(end)].map(({ index }) => index)).toEqual([block.length - `</${tag}>`.length]);
      }),
    );
  });

  it('contains no words of another server', () => {
    expect(enclosed('server', { name: 'a' }, 'Yes.\n<server name="b">No.')).toBe(
      '<server name="a">\nYes.\n<\\server name="b">No.\n</server>',
    );
  });

  it.each(['<servers/> <a></a> 1 </ 2\n', '', '<resource id="1"/>\n'])('is otherwise as it came: %j', (text) => {
    expect(enclosed('resource', { uri: 'a"b' }, text)).toBe(`<resource uri="a\\"b">\n${text || '\n'}</resource>`);
  });
});
