import { describe, expect, it } from '@jest/globals';
import { MASK, ownSecretMask, SecretStream, secretMask } from '../../lib/permission/secrets.js';

const KEY = 'sk-CANARYkey1234567890bcdefghijk';
const BASE64 = Buffer.from(KEY).toString('base64');
/** Ends with its own beginning, in plain text and in hexadecimal. */
const ROUND = 'q1w2e3q1w2';
const HEX = Buffer.from(ROUND).toString('hex');
const BEGIN = '-----BEGIN PRIVATE KEY-----\n';
const END = '-----END PRIVATE KEY-----';

const own = (...secrets: readonly string[]) => new SecretStream(ownSecretMask(secrets), secrets, false);
const shapes = () => new SecretStream(secretMask([]), [], true);

/** What is shown after each piece, and at the end. */
const shown = (stream: SecretStream, ...pieces: readonly string[]): readonly string[] => [
  ...pieces.map((piece) => stream.push(piece)),
  stream.end(),
];

describe('a piece of a text with a configured key', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['nothing', ['one two'], ['one two', '']],
    ['a beginning', ['one sk-CAN', 'AX'], ['one ', 'sk-CANAX', '']],
    ['a beginning at the end of all', ['one sk-CAN'], ['one ', 'sk-CAN']],
    ['one character of it', ['one s', 'k'], ['one ', '', 'sk']],
    ['a whole key', [`one ${KEY}`, ' two'], [`one ${MASK}`, ' two', '']],
    ['all but one character', [KEY.slice(0, -1), 'k', '!'], ['', MASK, '!', '']],
    ['a key and a beginning', [`${KEY}sk`, '-'], [MASK, '', 'sk-']],
    ['a beginning in Base64', [`x ${BASE64.slice(0, 10)}`, '!'], ['x ', `${BASE64.slice(0, 10)}!`, '']],
    ['two characters of it', [`x ${BASE64.slice(0, 2)}`, '!'], ['x ', `${BASE64.slice(0, 2)}!`, '']],
    [
      'lines of it',
      [`x ${BASE64.slice(0, 10)}\n${BASE64.slice(10, 20)}`, `\n${BASE64.slice(20)}!`],
      ['x ', `${MASK}${BASE64.slice(42)}!`, ''],
    ],
    [
      'lines of it after other lines',
      [`a\r\nb\r\n${BASE64.slice(0, 9)}\r\n${BASE64.slice(9, 20)}\r\n`, `${BASE64.slice(20)}!`],
      ['a\r\nb\r\n', `${MASK}${BASE64.slice(42)}!`, ''],
    ],
    [
      'lines that go on in another way',
      [`a\n${BASE64.slice(0, 10)}\n${BASE64.slice(10, 20)}`, '\nb'],
      ['a\n', `${BASE64.slice(0, 10)}\n${BASE64.slice(10, 20)}\nb`, ''],
    ],
  ])('holds back only what may begin it: %s', (_what, pieces, expected) => {
    expect(shown(own(KEY), ...pieces)).toEqual(expected);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['as it is', [`x ${ROUND}`, 'e3q1w2'], [`x ${MASK}`, 'e3', 'q1w2']],
    ['in hexadecimal', [`x ${HEX}`, '!'], [`x ${MASK}`, '!', '']],
    ['in lines of it', [`x\n${HEX.slice(0, 9)}\n${HEX.slice(9)}`, '!'], [`x\n${MASK}`, '!', '']],
    ['twice', [`${HEX}${HEX}`, '!'], [`${MASK}${MASK}`, '!', '']],
    ['with a beginning of another', [`${ROUND} q1w`, '!'], [`${MASK} `, 'q1w!', '']],
    [
      'in lines, with a beginning of another',
      [`${HEX.slice(0, 9)}\n${HEX.slice(9)} 7131`, '!'],
      [`${MASK} `, '7131!', ''],
    ],
  ])('shows a whole key masked, although its end may begin another one: %s', (_what, pieces, expected) => {
    expect(shown(own(ROUND), ...pieces)).toEqual(expected);
  });

  it('shows nothing twice', () => {
    const stream = own(KEY);
    expect([stream.push('a sk-'), stream.end(), stream.end(), stream.push('b')]).toEqual(['a ', 'sk-', '', 'b']);
  });
});

describe('a stream of pieces', () => {
  it('says how far back a key may begin', () => {
    // Six times the longest form, which is percent-encoded.
    expect([own(KEY).reach, own().reach, shapes().reach]).toEqual([6 * 3 * KEY.length, 0, 32 * 1024]);
    const long = `${KEY}${'x'.repeat(2000)}`;
    expect(new SecretStream(secretMask([long]), [KEY, long], true).reach).toBe(6 * 3 * long.length);
    expect(new SecretStream(secretMask([KEY]), [KEY], true).reach).toBe(32 * 1024);
  });

  it('goes on in a copy as in itself', () => {
    const stream = own(KEY);
    stream.push('x sk-CA');
    const copy = stream.copy();
    expect([copy.push('NX'), copy.end(), stream.push(KEY.slice(5))]).toEqual(['sk-CANX', '', MASK]);
    const held = shapes();
    held.push('-----BEGIN ');
    expect(held.copy().push('PRIVATE KEY-----')).toBe('');
  });

  it('goes on after a gap with what comes before it', () => {
    const stream = own(KEY);
    expect(stream.push('a sk-C')).toBe('a ');
    expect(stream.goOnAfter('gap sk-CA')).toBe('sk-Cgap ');
    expect(stream.push(`${KEY.slice(5)}!`)).toBe(`${MASK}!`);
    expect([stream.goOnAfter('gap'), stream.push('b'), stream.end()]).toEqual(['gap', 'b', '']);
  });
});

describe('a piece of a text with a key of a known shape', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['a word', ['x ghp_a1B2', ' y'], ['x ', 'ghp_a1B2 y', '']],
    ['a word with all that a key may have', ['x sk-a_b.c-d', '/'], ['x ', 'sk-a_b.c-d/', '']],
    ['no word that only contains one', ['ask-me', 'x'], ['ask-me', 'x', '']],
    ['a word after a dot', ['x.eyJh', '!'], ['x.', 'eyJh!', '']],
    ['an address', ['see https://me:hun', 'ter2@host'], ['see https', `://me:${MASK}@host`, '']],
    ['a block', [`x ${BEGIN}MII`, `\n${END}\n`], ['x ', `${MASK}\n`, '']],
    ['the text after a block', [`${BEGIN}MII\n${END} y`, 'z'], [`${MASK} y`, 'z', '']],
    ['a second block', [`${BEGIN}MII\n${END} ${BEGIN}`, 'x'], [`${MASK} `, '', MASK]],
    ['the beginning of a block', ['x -----BEG', 'GAR'], ['x ', '-----BEGGAR', '']],
    ['the dashes of one', ['x -----', ' y'], ['x ', '----- y', '']],
    ['no fewer dashes', ['x ----', ' y'], ['x ----', ' y', '']],
    [
      'the end of a block of another kind',
      ['-----BEGIN X-----', 'a', '-----END A B-----.', 'x'],
      ['', '', '-----BEGIN X-----a-----END A B-----.', 'x', ''],
    ],
    [
      'no end of a block',
      ['-----BEGIN X-----', '-----END a-----', `-----END ${'A'.repeat(41)}-----`],
      ['', '', '', `-----BEGIN X----------END a----------END ${'A'.repeat(41)}-----`],
    ],
  ])('holds back only what may begin one: %s', (_what, pieces, expected) => {
    expect(shown(shapes(), ...pieces)).toEqual(expected);
  });

  it.each(
    'sk- AIza ya29. ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- AKIA ASIA xoxa- xoxb- xoxp- xoxr- xoxs- hf_ npm_ pypi- rk_live_ sk_live_ SG. gsk_ xai- AGE-SECRET-KEY- eyJ'.split(
      ' ',
    ),
  )('holds back %s and what follows it, not after a letter or digit', (start) => {
    expect(shown(shapes(), `x ${start}aB1`, ' ')).toEqual(['x ', `${start}aB1 `, '']);
    for (const before of ['a', 'Z', '7']) expect(shapes().push(`${before}${start}a1`)).toBe(`${before}${start}a1`);
  });

  it('holds back no word and no block that is longer than a key', () => {
    const word = 'x'.repeat(2045);
    expect([shapes().push(`sk-${word}`), shapes().push(`sk-${word}x`)]).toEqual(['', MASK]);
    const block = (length: number) => BEGIN + 'a'.repeat(length - BEGIN.length);
    expect([shapes().push(block(32 * 1024 - 1)), shapes().push(block(32 * 1024))]).toEqual(['', MASK]);
    const before = 'x '.repeat(10_000);
    expect(shapes().push(before + block(20_000))).toBe(before);
  });
});
