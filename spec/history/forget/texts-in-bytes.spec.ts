import { deflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { occurrenceOf } from '../../../lib/chat/occurrence.js';
import { occurrenceInBytes } from '../../../lib/history/forget/survey.js';
import fc from '../../support/properties.js';

const le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const be = (text: string): Buffer => Buffer.from(le(text)).swap16();
const octal = (bytes: Buffer): string => [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

/** The ways in which a program writes a text into a file. */
const WAYS: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-16LE': le,
  'UTF-16BE': be,
  'a string of a PDF': (text) => Buffer.concat([Buffer.from('%PDF-1.7 ('), be(`\ufeff${text}`), Buffer.from(')')]),
  'octal numbers in a PDF': (text) => Buffer.from(`%PDF-1.7 (${octal(be(text))})`, 'latin1'),
  'hexadecimal numbers in a PDF': (text) => Buffer.from(`%PDF-1.7 <FEFF${be(text).toString('hex')}>`),
  'a compressed part of a PDF': (text) =>
    Buffer.concat([Buffer.from('%PDF-1.7 stream\n'), deflateSync(be(text)), Buffer.from('\nendstream')]),
};

describe('a text in the bytes of an attachment', () => {
  it.each(Object.keys(WAYS))('is found in %s, wherever it stands, and no other one is', (way) => {
    const texts = fc.constantFrom('xyzzy-4711', 'Größe', 'пароль', '密码是猫', 'two words');
    const noise = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(texts, noise, noise, (text, before, after) => {
        const inside = WAYS[way]?.(text) ?? Buffer.alloc(0);
        const bytes = way.includes('PDF') ? [inside, before] : [before, inside, after];
        expect(occurrenceInBytes(text)(Buffer.concat(bytes))).toBe(true);
        expect(occurrenceInBytes(`${text}nowhere`)(Buffer.concat(bytes))).toBe(false);
      }),
    );
  });

  it('is found in the strings of a PDF that place its letters one by one', () => {
    const bytes = Buffer.from('%PDF-1.7 BT [(xy) -20 (zz)3(y)] TJ ET');
    expect(occurrenceInBytes('xyzzy')(bytes)).toBe(true);
  });
});

describe('a text in a content', () => {
  it.each([
    ['letters', 'a', 7_000_000],
    ['spaces', ' ', 2_000_000],
    ['escapes', '%41', 2_000_000],
    ['backslashes', '\\', 2_000_000],
  ])(
    'is found beside millions of %s, and is not where it is not',
    (_, one, length) => {
      const run = one.repeat(length / one.length);
      expect(occurrenceOf('xyzzy word')(`${run} xyzzy   word ${run}`)).toBe(true);
      expect(occurrenceOf('xyzzy word')(run)).toBe(false);
    },
    60_000,
  );

  it('is found in base64 of millions of letters, wherever a piece may end', () => {
    const noise = 'na'.repeat(250_000);
    for (const shift of [0, 1, 2, 7]) {
      const content = Buffer.from(`${noise.slice(shift)}${noise}xyzzy word${noise}`).toString('base64');
      expect(occurrenceOf('xyzzy word')(content)).toBe(true);
    }
  }, 60_000);
});
