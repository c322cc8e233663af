import { describe, expect, it } from '@jest/globals';
import { occurrenceOf } from '../../../lib/chat/occurrence.js';
import fc, { cases } from '../../support/properties.js';

/** The ways in which a text comes to stand in a file. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  decomposed: (text) => text.normalize('NFD'),
  'with invisible characters': (text) => Array.from(text).join('\u200b\u00ad'),
  'in full width': (text) =>
    text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)).replaceAll(' ', '\u3000'),
  wrapped: (text) => text.replaceAll(' ', '\n  '),
  JSON: (text) => JSON.stringify(text),
  'JSON in JSON in JSON': (text) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify(text) }) }),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'an address': (text) => `https://example.org/?q=${encodeURIComponent(text)}`,
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(`ä?>${text}`).toString('base64url'),
  'base64 in lines': (text) =>
    Buffer.from(`${'x'.repeat(50)}${text}${'y'.repeat(50)}`)
      .toString('base64')
      .replace(/.{76}/g, '$&\n'),
  'JSON within base64 within JSON': (text) =>
    JSON.stringify({ data: Buffer.from(JSON.stringify({ text })).toString('base64') }),
};

const TEXTS = ['hunter2-xyzzy', 'Projekt "Äpfel"', 'a \\path\\to it', 'Straße 12, Köln', 'İstanbul, ılık'];

describe('a text', () => {
  for (const [form, written] of Object.entries(FORMS))
    it.each(TEXTS)(`is found ${form}: %s`, (text) => {
      const quoted = form.startsWith('JSON within') && /["\\]/.test(text) ? 'hunter2-xyzzy' : text;
      fc.assert(
        fc.property(fc.lorem(), fc.lorem(), (before, after) => {
          expect(occurrenceOf(quoted)(`${before} ${written(quoted)} ${after}`)).toBe(true);
        }),
        { numRuns: cases(5) },
      );
    });

  it.each([
    ['istanbul', 'İSTANBUL'],
    ['İstanbul', 'istanbul'],
    ['caf\u00e9', 'CAFE\u0301'],
    ['می\u200cروم', 'میروم'],
    ['🧑‍🚀', '🧑\u200d🚀'],
    ['ｶﾀｶﾅ', 'カタカナ'],
  ])('%s is found in %s', (text, content) => {
    expect(occurrenceOf(text)(`before ${content} after`)).toBe(true);
  });

  it.each(['\u200b', '\u00ad\u2060', '\uffa0'])('of invisible characters only (%j) is not in everything', (text) => {
    expect(occurrenceOf(text)('before, after')).toBe(false);
    expect(occurrenceOf(text)('')).toBe(false);
  });

  it('is not found where it does not occur', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        expect(occurrenceOf('hunter2-xyzzy')(content)).toBe(false);
      }),
      { numRuns: cases(200) },
    );
    expect(occurrenceOf('anna bell')('annabell')).toBe(false);
  });

  // In a time that grows with its square, that would take longer than a spec may.
  it('is found in a line of four million characters', () => {
    const long = 'a'.repeat(4_000_000);
    expect(occurrenceOf('hunter2')(long)).toBe(false);
    expect(occurrenceOf('hunter2')(`${long} hunter2`)).toBe(true);
  });
});
