import { describe, expect, it } from '@jest/globals';
import {
  cutSecretPattern,
  MASK,
  maskObject,
  SHAPES,
  secretForms,
  secretMask,
  secretPattern,
} from '../../lib/permission/secrets.js';
import fc, { cases } from '../support/properties.js';

// Put together here, so that no scanner takes this file for a leak.
const KEYS = [
  `sk-ant-api03-${'aB3_-'.repeat(18)}`,
  `sk-proj-${'aB3_-'.repeat(10)}`,
  `sk-${'a1B2'.repeat(12)}`,
  `AIza${'aB3_-'.repeat(7)}`,
  `ghp_${'a1B2'.repeat(9)}`,
  `github_pat_${'a1B2_'.repeat(16)}`,
  `glpat-${'a1B2-'.repeat(4)}`,
  `AKIA${'A1B2'.repeat(4)}`,
  `xoxb-${'123456789-'.repeat(3)}abc`,
  `hf_${'aB'.repeat(17)}`,
  `npm_${'a1B2'.repeat(9)}`,
  `gsk_${'a1B2'.repeat(13)}`,
  `xai-${'a1B2'.repeat(20)}`,
  `sk_live_${'a1B2'.repeat(6)}`,
  [
    'eyJ',
    'hbGciOiJIUzI1NiJ9',
    '.eyJ',
    'zdWIiOiIxMjM0NTY3ODkwIn0',
    '.',
    'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  ].join(''),
];

describe('the mask of secrets', () => {
  it.each(KEYS)('hides a key of the shape %s', (key) => {
    const mask = secretMask([]);
    for (const text of [key, `KEY=${key}\n`, `"${key}"`, `Bearer ${key} x`, `https://host/?key=${key}&a=b`])
      expect([text, mask(text)]).toEqual([text, text.replace(key, MASK)]);
  });

  it('hides a whole private key, even if its end is cut off', () => {
    const begin = '-----BEGIN OPENSSH PRIVATE KEY-----';
    const end = '-----END OPENSSH PRIVATE KEY-----';
    expect(secretMask([])(`a\n${begin}\nb3Blbn\nNzaC1r\n${end}\nb`)).toBe(`a\n${MASK}\nb`);
    expect(secretMask([])(`a\n${begin}\nb3Blbn`)).toBe(`a\n${MASK}`);
  });

  it.each([
    ['https://user:', 'hunter2hunter', '@host/x.git'],
    ['url = https://x-access-token:', 'TOKENWORD', '@github.com/a/b'],
    ['https://', 'aB3aB3aB3aB3aB3aB3aB', '@host/a'],
    ['postgres://app:', 'p:w%40rd', '@db:5432/app'],
    ['redis://:', 'hunter', '@db'],
  ])('hides the credentials in a URL: %s%s%s', (before, secret, after) => {
    expect(secretMask([])(`a ${before}${secret}${after} b`)).toBe(`a ${before}${MASK}${after} b`);
  });

  it.each([
    'https://host/a:b@c',
    'ssh://git@host/x',
    'https://user@host',
    'postgres://postgres:postgres@localhost',
    'https://user:password@host',
    'https://user:$TOKEN@host',
    'https://<user>:<password>@host',
    'mail me://a:b c@host',
    'http://host:8080/@scope/x',
  ])('leaves an address without credentials unchanged: %s', (text) => {
    expect(secretMask([])(text)).toBe(text);
  });

  it('leaves ordinary text unchanged', () => {
    const text =
      'task-based sk-learn AKIAX eyJ. ask-me-anything-about-this-long-thing disk-usage-of-the-whole-system commit 2c1bf5fd0a3be1c7e1f1 -----BEGIN CERTIFICATE-----';
    expect(secretMask(['', 'ab'])(text)).toBe(text);
  });

  it('hides every configured key anywhere, whatever characters it contains', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!MASK.includes(secret) && !/^[a-z_-]+$/i.test(secret));
        expect(secretMask([secret])(before + secret + after)).not.toContain(secret);
      }),
    );
  });

  it('hides a configured key reversed, in hexadecimal of either case and percent-encoded', () => {
    const key = 'key-0123456789-abc';
    const hex = Buffer.from(key).toString('hex');
    for (const form of [[...key].reverse().join(''), hex, hex.toUpperCase(), hex.toUpperCase().replace(/../g, '%$&')])
      expect(secretMask([key])(`a ${form} b`)).toBe(`a ${MASK} b`);
  });

  it('leaves placeholders for a key where none is needed', () => {
    const text = '/opt/ollama /usr/local/bin lm-studio not-needed EMPTY';
    expect(secretMask(['ollama', 'local', 'lm-studio', 'not-needed', 'EMPTY'])(text)).toBe(text);
  });

  it('hides the longer of two keys with a common beginning', () => {
    expect(secretMask(['secret-1', 'secret-1-and-more'])('x secret-1-and-more x')).toBe(`x ${MASK} x`);
  });

  it('applies to every text in a result and keeps the rest', () => {
    const mask = secretMask(['hunter22']);
    const result = {
      stdout: 'a hunter22',
      list: ['hunter22', 1, null],
      deep: { a: { b: 'hunter22' } },
      exit_code: 0,
      ok: true,
    };
    expect(maskObject(result, mask)).toEqual({
      stdout: `a ${MASK}`,
      list: [MASK, 1, null],
      deep: { a: { b: MASK } },
      exit_code: 0,
      ok: true,
    });
  });

  it('takes no longer for hostile text than for any other', () => {
    const hostile = [
      'sk-'.repeat(20_000),
      '-----BEGIN '.repeat(10_000),
      `eyJ${'a'.repeat(100_000)}`,
      `SG.${'a'.repeat(100_000)}`,
    ];
    const mask = secretMask([]);
    expect(hostile.map((text) => mask(text).length > 0)).toEqual(hostile.map(() => true));
  });
});

describe('a secret found by its special characters', () => {
  const secrets = ['sk-test-1234567890abcdef', 'a longer secret with words'];
  const patterns = [...secrets.map(secretPattern), ...secrets.map(cutSecretPattern)];
  const whole = new RegExp([...patterns, `(?<![A-Za-z0-9])(?:${SHAPES.join('|')})`].join('|'), 'g');
  const shapes = [
    ...SHAPES.filter((shape) => !shape.includes('(?<!') && !shape.includes('*?')).map((shape) =>
      fc.stringMatching(new RegExp(`^${shape}$`)),
    ),
    fc.constant('-----BEGIN PRIVATE KEY-----\nab\n'),
    fc.constant(`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'a1'.repeat(10)}`),
  ];
  const piece = fc.oneof(
    ...shapes,
    fc.constantFrom(...secrets.flatMap(secretForms), ' ', '\n', '\n[… 9 of 10 …]\n', 'npm_', 'eyJ', 'plain words'),
    fc
      .tuple(fc.constantFrom(...secrets), fc.nat(26), fc.nat(26))
      .map(([secret, one, other]) => secret.slice(Math.min(one, other), Math.max(one, other))),
  );

  it('is masked like by a search of the whole text', () => {
    const mask = secretMask(secrets);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join('');
        expect(mask(text)).toBe(text.replace(whole, MASK));
      }),
      { numRuns: cases(1000) },
    );
  });

  it('contains a special character', () => {
    for (const shape of shapes) fc.assert(fc.property(shape, (text) => expect(secretMask([])(text)).toContain(MASK)));
  });
});
