import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sedEffects } from '../../../lib/permission/shell/sed-script.js';
import { itWhere } from '../../support/where.js';

const NOTHING = { runs: [], reads: [], writes: [], isClear: true };
const runs = (...commands: (string | null)[]) => ({ ...NOTHING, runs: commands });

describe('a sed script', () => {
  it.each([
    ...[
      '',
      'p',
      '1,5p',
      's/a/b/g; /x/,$!d',
      '$!{$!N;};P;D',
      ':a;N;$!ba;s/\\n/ /g',
      '2i some text; e rm x',
      '/re/{=;p;}',
    ],
    ...[
      's/[^/]*$//',
      's|a\\|e x|b|',
      'y/abc/;e /',
      '# e x',
      '#n\np',
      'a\\\ne rm x',
      'a foo\\\ne x',
      's/a/;e x/',
      '\\%e x%d',
    ],
    ...[
      '0~3d',
      '1,+2d',
      '1,~4d',
      '0,/x/Id',
      '/a/IM,/b/!p',
      'l 5;q 1',
      's/a/b/2gI # e',
      '{p};{p}',
      'v 4.2',
      'b end;p;:end',
      '{bx};:x',
    ],
    ...[
      's,x\\,e,y,',
      's/a\\\ne/b\\\ne/',
      's/[]/]e/x/',
      's/[^]/]/x/;p',
      's/[[:alpha:]/]/x/',
      'y/[/]/',
      'z;F;x;h;H;g;G;n;N',
    ],
  ])('does nothing dangerous: %j', (script) => {
    expect(sedEffects(script)).toEqual(NOTHING);
  });

  it.each([
    ...[
      ['ereboot', 'reboot'],
      ['1erm x', 'rm x'],
      ['1!  e  rm x', 'rm x'],
      ['$!erm x', 'rm x'],
      ['/re/Ie x', 'x'],
    ],
    ...[
      ['\\%re%e x', 'x'],
      ['1~2e x', 'x'],
      ['0,/x/e x', 'x'],
      ['1,+2e x', 'x'],
      ['1 , ~2 e x', 'x'],
      ['/a/,\\,b,IMe x', 'x'],
    ],
    ...[
      ['{{e x', 'x'],
      ['p;e x', 'x'],
      ['{p};e x', 'x'],
      ['a x\ne y', 'y'],
      ['a\\\n\ne y', 'y'],
      ['a\\\\\ne y', 'y'],
      ['# x\ne y', 'y'],
    ],
    ...[
      [':a;e x', 'x'],
      ['b e\ne x', 'x'],
      ['ba e x', 'x'],
      ['T;e x', 'x'],
      ['v 4.2 e x', 'x'],
      ['q5;e x', 'x'],
      ['y/e/;/;e x', 'x'],
    ],
    ...[
      ['s1a1b1;e x', 'x'],
      ['s/\\//e/;e x', 'x'],
      ['e x;}', 'x;}'],
      ['/[/]/e x', 'x'],
      ['seaebe;e x', 'x'],
    ],
  ])('runs a command: %j', (script, command) => {
    expect(sedEffects(script)).toEqual(runs(...sedEffects(script).runs));
    expect(sedEffects(script).runs).toContain(command);
  });

  it.each([
    'e',
    '1e',
    '1e\np',
    's/a/b/e',
    's/a/b/2pge',
    's/a/b/ e ;p',
    's1a1b1e',
    's|a|b|Ie}',
    's/[\\/]/x/e',
    'e x\\\ny',
  ])('runs commands from its input: %j', (script) => {
    expect(sedEffects(script)).toEqual({ ...NOTHING, runs: expect.arrayContaining([null]) });
  });

  it.each([
    ['w out;p }', { writes: ['out;p }'] }],
    ['/x/W  out', { writes: ['out'] }],
    ['s/a/b/gw out', { writes: ['out'] }],
    ['s/a/rm x/ew out\nr in', { runs: [null], writes: ['out'], reads: ['in'] }],
    ['1r/etc/passwd', { reads: ['/etc/passwd'] }],
    ['$!R in', { reads: ['in'] }],
  ])('names files: %j', (script, effects) => {
    expect(sedEffects(script)).toEqual({ ...NOTHING, ...effects });
  });

  it.each([
    ...[
      's/a/b',
      's/a',
      '/a',
      'k',
      's/a/b/k',
      'pp',
      'p e x',
      '}p',
      'y/a/b/e',
      's/a\n/b/',
      'r',
      '1,p',
      'séaébée',
      's\\a\\b\\',
    ],
    ...['b}s/a/;e/', ':a,b', 's/[[.].]/]/x/', 's/[a/b/', 'p\r', 's/a/b/\re', '1,'],
  ])('is unclear: %j', (script) => {
    expect(sedEffects(script).isClear).toBe(false);
  });

  it('is read in both ways in which versions of sed may end a regular expression', () => {
    expect(sedEffects('s/[/]/x/;e a').runs).toContain('a');
    expect(sedEffects('s,[,],;#,\ne b')).toMatchObject({ runs: ['b', 'b'], isClear: true });
  });

  it('of 64 KiB is read quickly', () => {
    // In quadratic time it would take minutes; instrumented, on a busy machine, it takes seconds.
    const start = performance.now();
    for (const part of ['[', 's/[/', '1,', '/a/', 'a\\', 's/[/]/x/;', '{', 'b}', '/x/I '])
      sedEffects(part.repeat(65_536 / part.length));
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

const delimiters = fc.constantFrom('/', '|', ',', '%', '1', 'e', ';', ' ', '[', ']', '}');
const pieces = fc.constantFrom(
  'a',
  'b',
  '[a-z]',
  '[/]',
  '[^,]',
  '[|;e]',
  '[]e]',
  '[[:digit:]/]',
  '\\.',
  '\\/',
  '\\|',
  '\\e',
  '.*',
  ';',
  '{',
  '}',
  '#',
  '&',
  ' e ',
);
const pattern = fc.array(pieces, { minLength: 1, maxLength: 4 }).map((all) => all.join(''));
const delimited = fc.tuple(delimiters, pattern, pattern);
const address = fc.oneof(
  fc.constantFrom('', '', '1', '$', '0~2', '2!', '$! ', '1,3', '1,+2', '1 , ~2', '0,/x/', '/a/I', '/a/I,/b/M!'),
  fc.tuple(delimiters, pattern).map(([mark, text]) => `\\${mark}${text}${mark}`),
  pattern.map((text) => `/${text}/`),
);
const harmless = fc.oneof(
  fc.constantFrom(
    'p',
    'd',
    '=',
    'N',
    'l 3',
    'q',
    'b',
    'bx',
    't x',
    '{p}',
    '{p;n}',
    '#e x\n',
    'a e x\n',
    'i\\\ne x\n',
    'c e\\\nx\n',
    ':x',
  ),
  delimited.map(([mark, from, to]) => `s${mark}${from}${mark}${to}${mark}`),
  delimited.map(([mark, from, to]) => `s${mark}${from}${mark}${to}${mark}2p`),
);
const effect = fc.oneof(
  fc.constantFrom('e', 'e x', 'ereboot', 'w out', 'r in', 'W out', 'R in', '{e}', '{p;e x'),
  delimited.map(([mark, from, to]) => `s${mark}${from}${mark}${to}${mark}e`),
  delimited.map(([mark, from, to]) => `s${mark}${from}${mark}${to}${mark} gw out`),
);
const separators = fc.constantFrom(';', '\n', ' ; ', ';\n');
const command = (what: fc.Arbitrary<string>) => fc.tuple(address, what, separators).map((all) => all.join(''));
const calm = fc.array(command(harmless), { maxLength: 4 }).map((all) => all.join(''));
const anything = fc.oneof(
  calm,
  fc.tuple(calm, command(effect), calm).map((all) => all.join('')),
);
const noise = fc.string({ unit: fc.constantFrom(...'spewra{};/\\[]!,1$\n #:b|&~+'), maxLength: 14 });

const roundsOf = (rounds: number) => ({ numRuns: rounds * Number(process.env.HI_ROUNDS ?? 1) });
const mayDo = ({ runs: run, reads, writes, isClear }: ReturnType<typeof sedEffects>): boolean =>
  run.length + reads.length + writes.length > 0 || !isClear;

describe("what sed's own sandbox refuses", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-sed-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const sandboxed = (script: string) => {
    const { status, stderr } = spawnSync('sed', ['--sandbox', '-e', script], {
      cwd: folder,
      input: '',
      encoding: 'utf8',
    });
    return { accepts: status === 0, refuses: stderr.includes('sandbox mode') };
  };
  const hasSandbox = spawnSync('sed', ['--sandbox', 'p'], { input: '' }).status === 0;
  const itHere = itWhere(hasSandbox, 'needs GNU sed');

  itHere('is always found, in grammatical scripts and in noise', () => {
    const found = { accepted: 0, refused: 0, clear: 0 };
    fc.assert(
      fc.property(fc.oneof(anything, noise), (script) => {
        const { accepts, refuses } = sandboxed(script);
        const effects = sedEffects(script);
        if (refuses) expect(mayDo(effects)).toBe(true);
        found.accepted += accepts ? 1 : 0;
        found.refused += refuses ? 1 : 0;
        found.clear += accepts && !mayDo(effects) ? 1 : 0;
      }),
      roundsOf(800),
    );
    // Most of what is harmless is read as harmless.
    expect(found.refused).toBeGreaterThan(50);
    expect(found.clear).toBeGreaterThan(found.accepted * 0.7);
  });
});
