import { describe, expect, it } from '@jest/globals';
import { MASK, ownSecretMask, SecretStream, secretMask } from '../../lib/permission/secrets.js';
import fc from '../support/properties.js';

const KEY = 'sk-CANARYkey1234567890bcdefghijk';
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEv\n-----END PRIVATE KEY-----';

const stream = (shapes = true): SecretStream => new SecretStream(secretMask([KEY]), [KEY], shapes);

function joined(pieces: readonly string[], masked = stream()): string {
  return pieces.map((piece) => masked.push(piece)).join('') + masked.end();
}

/** The text, cut at these lengths. */
function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const length of lengths) {
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return [...pieces, text.slice(from)];
}

describe('a configured key', () => {
  it.each([
    ['as it is', KEY],
    ['in Base64', Buffer.from(KEY).toString('base64')],
    ['in Base64 with text around it', Buffer.from(`{"api_key":"${KEY}","x":1}`).toString('base64')],
    ['in Base64 for addresses', Buffer.from(`a${KEY}`).toString('base64url')],
    ['in Base64 with short lines', Buffer.from(`ab${KEY}`).toString('base64').replace(/.{10}/g, '$&\n')],
    ['in hexadecimal', Buffer.from(KEY).toString('hex')],
  ])('is masked %s', (_name, text) => {
    const shown = secretMask([KEY])(`x ${text} y`);
    expect(shown).toContain(MASK);
    // The text around it stays.
    expect(shown.replace(MASK, '').replace(/\s/g, '').length).toBeLessThan(40);
    for (const part of [KEY.slice(8), Buffer.from(KEY).toString('base64').slice(8, 24)])
      expect(shown).not.toContain(part);
  });

  it('is masked in an address and in JSON', () => {
    const odd = 'pa"ss/w\\ord+12';
    const mask = secretMask([odd]);
    expect(mask(`?k=${encodeURIComponent(odd)}&x`)).toBe(`?k=${MASK}&x`);
    expect(mask(JSON.stringify({ odd }))).toBe(`{"odd":"${MASK}"}`);
  });

  it('is masked in an address that arrives in pieces', () => {
    const text = 'origin https://me:hunter2hunter@host/a.git (fetch)\nhttps://host/x me@host\n';
    for (let length = 1; length < text.length; length += 1)
      expect(joined(cut(text, Array(20).fill(length)))).toBe(text.replace('hunter2hunter', MASK));
  });

  it('is masked if only a part of it is left by a cut', () => {
    const mask = secretMask([KEY]);
    const gap = '\n[… 90 of 900 characters left out. All is in /x …]\n';
    expect(mask(`key: ${KEY.slice(0, 15)}${gap}${KEY.slice(15)} and more`)).toBe(`key: ${MASK}${gap}${MASK} and more`);
    expect(mask(`key: ${KEY.slice(0, 20)}`)).toBe(`key: ${MASK}`);
    expect(mask(`the words ${KEY.slice(0, 20)} go on`)).toContain(KEY.slice(0, 20));
    expect(mask('a task')).toBe('a task');
  });

  it.each([
    ['backwards', [...KEY].reverse().join('')],
    ['percent-encoded', Buffer.from(KEY).toString('hex').toUpperCase().replace(/../g, '%$&')],
  ])('is masked %s in pieces, however it is split', (_name, form) => {
    for (let length = 1; length < form.length; length += 1) {
      const pieces = cut(`x ${form} y`, Array(200).fill(length));
      expect(joined(pieces, new SecretStream(ownSecretMask([KEY]), [KEY], false))).toBe(`x ${MASK} y`);
    }
  });

  it.each([
    ['Base64', Buffer.from(`a=${KEY}`).toString('base64').replace(/.{20}/g, '$&\n')],
    ['Base64 with CRLF', Buffer.from(KEY).toString('base64').replace(/.{9}/g, '$&\r\n')],
    ['hexadecimal', Buffer.from(KEY).toString('hex').replace(/.{16}/g, '$&\n')],
  ])('is masked in lines of %s in pieces, however they are split', (_name, form) => {
    const whole = `x ${form} y\nand ${form}`;
    for (let length = 1; length < form.length; length += 1) {
      const masked = new SecretStream(ownSecretMask([KEY]), [KEY], false);
      expect([length, joined(cut(whole, Array(300).fill(length)), masked)]).toEqual([
        length,
        ownSecretMask([KEY])(whole),
      ]);
    }
  });

  it('does not delay the end of a line with fewer than four of its characters', () => {
    const masked = new SecretStream(ownSecretMask([KEY]), [KEY], false);
    const first = Buffer.from(KEY).toString('base64');
    for (const line of ['one\n', `two ${first.slice(0, 3)}\n`]) expect(masked.push(line)).toBe(line);
    expect(masked.push(`${first.slice(0, 4)}\n`)).toBe('');
    expect(masked.push('so')).toBe(`${first.slice(0, 4)}\nso`);
  });

  it('is masked in pieces, however it is split, and nothing else is changed', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(KEY, KEY.slice(0, 9), 's', 'sk-', '\n'), fc.string({ maxLength: 5 })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(12)), (whole, lengths) => {
        const mask = ownSecretMask([KEY]);
        expect(joined(cut(whole, lengths), new SecretStream(mask, [KEY], false))).toBe(mask(whole));
      }),
    );
  });
});

describe('a key of a known shape', () => {
  it.each([`ghp_${'a1B2'.repeat(9)}`, PEM, `AIza${'aB3_-'.repeat(7)}`])('is masked in two pieces: %s', (key) => {
    for (let at = 5; at < key.length; at += 7)
      expect(joined([`x ${key.slice(0, at)}`, `${key.slice(at)} y`])).toBe(`x ${MASK} y`);
  });

  it('delays nothing else', () => {
    const masked = stream();
    expect(masked.push('50 of 60')).toBe('50 of 60');
    // A key in an address may begin with it.
    expect(masked.push(' 50 %')).toBe(' 50 ');
    expect(masked.push(' left')).toBe('% left');
    expect(masked.push(' done')).toBe(' done');
    expect(masked.push('\n$ ')).toBe('\n$ ');
  });
});
