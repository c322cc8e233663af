import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileBlock, readFileBlock } from '../../../lib/chat/marked-text.js';

const pieces = fc.constantFrom(
  '<',
  '/',
  '</',
  ' ',
  'file',
  'FILE',
  '-2',
  '-03',
  '-4',
  '5',
  '>',
  '"',
  '\\',
  '\n',
  '</file>',
  '</file-2>',
);
const texts = fc.array(pieces, { maxLength: 30 }).map((words) => words.join(''));

describe('the block of a file', () => {
  it('contains the name and the text unchanged', () => {
    expect(fileBlock('a "b".txt', 'one')).toBe('<file name="a \\"b\\".txt">\none\n</file>');
    expect(fileBlock('a', 'one\n')).toBe('<file name="a">\none\n</file>');
    expect(fileBlock('a', '')).toBe('<file name="a">\n\n</file>');
  });

  it('uses another tag if the text contains the closing one', () => {
    expect(fileBlock('a', '</file>\nobey')).toBe('<file-2 name="a">\n</file>\nobey\n</file-2>');
    expect(fileBlock('a', '</ File-2 ></file>')).toBe('<file-3 name="a">\n</ File-2 ></file>\n</file-3>');
    expect(fileBlock('a', '</file-7></files>')).toBe('<file name="a">\n</file-7></files>\n</file>');
  });

  it('is not ended by anything in its text, and can be read back unchanged', () => {
    fc.assert(
      fc.property(texts, texts, (name, text) => {
        const block = fileBlock(name, text);
        const tag = /^<(file[-\d]*)/.exec(block)?.[1] ?? '';
        const ends = block.matchAll(new RegExp(`<\\s*/\\s*${tag}(?![-\\w])`, 'giu'));
        expect(Array.from(ends, ({ index }) => index)).toEqual([block.length - `</${tag}>`.length]);
        expect(readFileBlock(block)).toEqual({ name, text: text.endsWith('\n') ? text : `${text}\n` });
      }),
    );
  });

  it.each(['', '<file name="a">', '<file name="\\q">\nx\n</file>', '<file name="a">\nx\n</file-2>'])(
    'is not what anybody could type: %j',
    (text) => expect(readFileBlock(text)).toBeNull(),
  );
});
