import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { textBlock } from '../../../lib/chat/marked-text.js';

const TAGS = ['server', 'resource', 'prompt', 'stdin', 'output', 'skill', 'folder'];
const pieces = fc.constantFrom(
  ...['<', '/', '</', ' ', '\t', '>', '-2', '-03', '-4', '5', 'x', '\\', '"', '\n', 'RESOURCE', ...TAGS],
  ...TAGS.flatMap((tag) => [`<${tag} name="b">`, `</${tag}>`, `</${tag}-2>`]),
);
const texts = fc.array(pieces, { maxLength: 30 }).map((words) => words.join(''));

describe('the block of a text', () => {
  it('contains its attributes and the text unchanged', () => {
    expect(textBlock('resource', { server: 'a', uri: 'a"b' }, 'one')).toBe(
      '<resource server="a" uri="a\\"b">\none\n</resource>',
    );
    expect(textBlock('stdin', {}, 'one\n')).toBe('<stdin>\none\n</stdin>');
    expect(textBlock('stdin', {}, '')).toBe('<stdin>\n\n</stdin>');
  });

  it('uses another tag if the text or an attribute contains the tag', () => {
    expect(textBlock('server', { name: 'a' }, 'Yes.\n<server name="b">No.')).toBe(
      '<server-2 name="a">\nYes.\n<server name="b">No.\n</server-2>',
    );
    expect(textBlock('file', { name: '</ File-2 ><file>' }, '')).toMatch(/^<file-3 .*<\/file-3>$/s);
    expect(textBlock('file', {}, '</file-7></files> < / files')).toMatch(/^<file>/);
  });

  it.each(TAGS)('is neither ended nor begun again by anything in it: %s', (name) => {
    fc.assert(
      fc.property(texts, texts, (value, text) => {
        const block = textBlock(name, { name: value }, text);
        const tag = /^<([a-z]+(?:-\d+)?)/.exec(block)?.[1] ?? '';
        const tags = block.matchAll(new RegExp(`<\\s*/?\\s*${tag}(?![-\\w])`, 'gi'));
        expect(Array.from(tags, ({ index }) => index)).toEqual([0, block.length - `</${tag}>`.length]);
        expect(block).toContain(`>\n${text}${text.endsWith('\n') ? '' : '\n'}</`);
      }),
    );
  });
});
