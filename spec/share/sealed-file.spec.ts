import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newKeyText, openFile, parseKey, sealFile } from '../../lib/share/sealed-file.js';

const key = parseKey(newKeyText()) as Buffer;
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));

describe('a sealed file', () => {
  it('opens with its key at its place, and holds what was put in', () => {
    fc.assert(
      fc.property(bytes, fc.string(), (content, place) => {
        expect(openFile(key, place, sealFile(key, place, content))).toEqual({ kind: 'content', content });
      }),
    );
  });

  it('does not open once any byte of it was changed, or it was cut, or it is elsewhere', () => {
    fc.assert(
      fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (content, at, by) => {
        const sealed = sealFile(key, 'here', content);
        const changed = Buffer.from(sealed);
        const index = at % sealed.length;
        changed[index] = (changed[index] ?? 0) ^ by;
        expect(openFile(key, 'here', changed).kind).not.toBe('content');
        expect(openFile(key, 'here', sealed.subarray(0, index)).kind).toBe('unreadable');
        expect(openFile(key, 'there', sealed).kind).toBe('unreadable');
        expect(openFile(parseKey(newKeyText()) as Buffer, 'here', sealed).kind).toBe('unreadable');
      }),
    );
  });

  it('of a later version is told from a damaged one', () => {
    const sealed = sealFile(key, 'here', Buffer.from('x'));
    sealed[8] = 2;
    expect(openFile(key, 'here', sealed)).toEqual({ kind: 'newer' });
  });

  it('looks like noise: equal contents are equal nowhere behind the magic number', () => {
    const [one, other] = [sealFile(key, 'here', Buffer.alloc(64)), sealFile(key, 'here', Buffer.alloc(64))];
    expect(one.subarray(9).equals(other.subarray(9))).toBe(false);
    expect(one.includes(Buffer.alloc(8))).toBe(false);
  });
});

it('a key is 32 bytes, whatever white space is around it, and nothing else is a key', () => {
  const text = newKeyText();
  expect(parseKey(` ${text}\n`)).toHaveLength(32);
  fc.assert(
    fc.property(
      fc.string(),
      (other) => fc.pre(!/^\s*[\w-]{43}\s*$/.test(other)) === undefined && parseKey(other) === null,
    ),
  );
});
