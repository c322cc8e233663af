import { describe, expect, it } from '@jest/globals';
import { readCommand, type ShellPart } from '../../../lib/permission/shell/read-command.js';
import type { ShellName } from '../../../lib/permission/shell/shell-word.js';

const read = (line: string, shell?: ShellName) => readCommand(line, { http_proxy: 'x', EDITOR: 'vi' }, shell);

/**
 * A part in short: a command as its words, a file as `<x` or `>x`, what is unclear as its reason (`?` where it may hide
 * commands).
 */
function short(part: ShellPart): string {
  if (part.kind === 'file') return `${{ read: '<', write: '>' }[part.use]}${part.path}`;
  if (part.kind === 'unclear') return `${part.mayHideCommands ? '?' : '!'} ${part.reason}`;
  const words = [...part.assignments, ...part.words].map(({ value }) => value ?? '*').join(' ');
  if (part.uncertainty !== null) return `${words} (${part.uncertainty.reason})`;
  return part.inner === null ? words : `${words} [${part.inner.parts.map(short).join('; ')}]`;
}

const parts = async (line: string, shell?: ShellName) => (await read(line, shell)).parts.map(short);
const expectParts = async (line: string, ...expected: readonly string[]): Promise<void> =>
  expect([line, await parts(line)]).toEqual([line, expected]);
const expectUnclear = async (line: string, reason: string): Promise<void> =>
  expect([line, (await parts(line)).filter((part) => part.startsWith('?'))]).toEqual([line, [`? ${reason}`]]);

describe('a command line', () => {
  it.each([
    ['', []],
    ['  # only a comment', []],
    ['\n\t\n#x', []],
    ['ls -l', ['ls -l']],
    ['A=1 b=$x ls', ['A=1 * ls']],
    ['a+=1 ls', ['a+=1 ls']],
    ['A[0]=1 ls', ['* ls']],
    ['A=(1) ls', ['* ls']],
    ['a | b && c; d &', ['a', 'b', 'c', 'd']],
    ['echo $(a) `b` <(c)', ['echo * * *', 'a', 'b', 'c']],
    ['f() { a; }', ['a']],
    ['env a b', ['env a b [a b]']],
    ["bash -c 'a; b'", ['bash -c a; b [a; b]']],
    ['sh -c "bash -c \'a\'"', ["sh -c bash -c 'a' [bash -c a [a]]"]],
    ['eval a b', ['eval a b [a b]']],
    ['let x', ['let x (it calculates with variables)']],
    ["sh -c 'time a'", ['sh -c time a [? sh may parse it differently; a]']],
    ['x=1; a', ['a']],
    ['for x in 1; do a; done', ['a']],
    ['a <<E\n$(b)\nE', ['a', 'b']],
    ['a <<< $(b)', ['a', 'b']],
  ])('%j is read as %j', (line, expected) => expectParts(line, ...expected));

  it.each([
    ['a > x', ['a', '>x']],
    ['> x a', ['a', '>x']],
    ['A=1 > x a', ['A=1 a', '>x']],
    ['a >&12', ['a']],
    ['a >&12-', ['a']],
    ['a >', ['a', '! it is unclear which file it redirects to', '? it cannot be parsed (expected redirect target)']],
    ['a >> x', ['a', '>x']],
    ['a >| x', ['a', '>x']],
    ['a &> x', ['a', '>x']],
    ['a < x', ['a', '<x']],
    ['a <> x', ['a', '>x']],
    ['a 2> x', ['a', '>x']],
    ['a >& x', ['a', '>x']],
    ['a <& x', ['a', '<x']],
    ['a 2>&1', ['a']],
    ['a <&0', ['a']],
    ['a >&-', ['a']],
    ['a >&2-', ['a']],
    ['a >&2x', ['a', '>2x']],
    ['a >&x2', ['a', '>x2']],
    ['a > 2', ['a', '>2']],
    ['a > -', ['a', '>-']],
    ['a > $x', ['a', '! it is unclear which file it redirects to']],
    ['a {x}> y', ['a', '>y']],
  ])('%s redirects: %j', async (line, expected) => {
    const found = await parts(line);
    expect([line, [...found].sort()]).toEqual([line, [...expected].sort()]);
  });

  it.each([
    ['X=1; a', 'it sets X, which may change what runs'],
    ['Xa=1; a', 'it sets Xa, which may change what runs'],
    ['x1A=1; a', 'it sets x1A, which may change what runs'],
    ['http_proxy=1; a', 'it sets http_proxy, which may change what runs'],
    ['for PATH in 1; do a; done', 'it sets PATH, which may change what runs'],
    ['select X in 1; do a; done', 'it sets X, which may change what runs'],
    [`a \${X:=1}`, 'it sets X, which may change what runs'],
    [`a \${X=1}`, 'it sets X, which may change what runs'],
    ['a {X}> y', 'it sets X, which may change what runs'],
    ['read http_proxy', 'it sets http_proxy, which may change what runs'],
    ['mapfile http_proxy', 'it sets http_proxy, which may change what runs'],
    ['readarray http_proxy', 'it sets http_proxy, which may change what runs'],
    ['getopts a http_proxy', 'it sets http_proxy, which may change what runs'],
    ['wait http_proxy', 'it sets http_proxy, which may change what runs'],
    ['a \u200b', 'it contains invisible characters'],
    ['a\u0007', 'it contains invisible characters'],
    ['a \u3164', 'it contains invisible characters'],
    ['((1))', 'no command is recognised in it'],
    ['x=1', 'no command is recognised in it'],
    ['> x', 'no command is recognised in it'],
    ['echo $((x))', 'it calculates with a variable'],
    [`a \${x[a1]}`, 'it calculates an index'],
    [`a \${x[1a]}`, 'it calculates an index'],
    ['echo $((1a))', 'it calculates with a variable'],
    [`a \${!x}`, 'it expands a variable whose name is in another variable'],
    [`a \${x[y]}`, 'it calculates an index'],
    [`a \${x@P}`, 'it evaluates the value of a variable'],
    [`a \${x:y}`, 'it calculates a position'],
    [`a \${x:1:y}`, 'it calculates a position'],
    ['[[ -v x ]] && a', 'it evaluates the name of a variable'],
    ['[[ -R x ]] && a', 'it evaluates the name of a variable'],
    ...['eq', 'ne', 'lt', 'le', 'gt', 'ge'].map((one) => [`[[ x -${one} 1 ]] && a`, 'it calculates with a variable']),
    ['[[ 1 -eq x ]] && a', 'it calculates with a variable'],
    ['x[y]=1; a', 'it calculates an index'],
    ['coproc a', 'it starts a coprocess'],
    ['a @(b|c)', 'shells parse its pattern differently'],
    [`a \${x/$(b)/}`, 'a command in it cannot be parsed'],
    [`a \${x/\`b\`/}`, 'a command in it cannot be parsed'],
    [`a \${x/<(b)/}`, 'a command in it cannot be parsed'],
  ] as [string, string][])('%s: %s', expectUnclear);

  it.each([
    ...[
      'x1_=1; a',
      'read x; a',
      'a "http_proxy"',
      'echo http_proxy',
      `a \${x:-1}`,
      `a \${X:-1}`,
      `a \${X+1}`,
      'for x in 1; do a; done',
    ],
    ...[
      'echo $((1 + 1))',
      `a \${x[1]}`,
      `a \${x[@]}`,
      `a \${x[*]}`,
      `a \${x:1}`,
      `a \${x:1:2}`,
      '[[ -n x ]] && a',
      '[[ x == y ]] && a',
    ],
    ...[
      '[[ 1 -eq 22 ]] && a',
      'x[1]=1; a',
      'a *',
      'a\n\tb',
      'ä ö',
      `a \${x#y}`,
      `a \${x/y/z}`,
      'read X',
      'echo $((10))',
      `a \${x[12]}`,
    ],
  ])('%s contains nothing unclear', async (line) =>
    expect([line, (await parts(line)).filter((part) => /^[?!]/.test(part))]).toEqual([line, []]),
  );

  it.each(['ls "', "ls '", 'echo $(ls', 'if a; then'])('that cannot be parsed is unclear: %s', async (line) => {
    expect((await parts(line)).some((part) => part.startsWith('? it cannot be parsed ('))).toBe(true);
  });

  it('is read eight commands deep', async () => {
    const nested = (depth: number): string => `${'env '.repeat(depth)}a`;
    const flat = async (depth: number) => JSON.stringify(await parts(nested(depth)));
    expect(await flat(8)).not.toContain('nested too deeply');
    expect(await flat(9)).toContain('? it is nested too deeply');
    const evals = (depth: number): string => `${'eval '.repeat(depth)}a`;
    expect(JSON.stringify(await parts(evals(8)))).not.toContain('nested too deeply');
    expect(JSON.stringify(await parts(evals(9)))).toContain('? it is nested too deeply');
  });

  it('returns the text of each part, and of each nested command', async () => {
    const { parts } = await read('env A=1 b  c; d > e; x=$((y))');
    const texts = parts.map(({ text }) => text);
    expect(texts).toEqual(['env A=1 b  c', 'd > e', '> e', 'y']);
    const [first] = parts;
    expect(first?.kind === 'command' && first.inner?.parts.map(({ text }) => text)).toEqual(['A=1 b c']);
    const [given] = first?.kind === 'command' ? first.words.slice(1) : [];
    expect(given).toMatchObject({ value: 'A=1', mayBeOption: false });
  });

  it('keeps its words in any position', async () => {
    const { words } = await read('a "b c" > d; x=e f <<< g');
    expect(words.map(({ value }) => value)).toEqual(expect.arrayContaining(['a', 'b c', 'd', 'e', 'f', 'g']));
  });
});

describe('a shell other than bash', () => {
  const UNLIKE = '? sh may parse it differently';
  it.each([
    ...[
      "a $'b'",
      'a $"b"',
      'a $[1]',
      `a \${x:-1}`,
      'a << E\nE',
      '((1)); a',
      '[[ a ]]; a',
      'a <(b)',
      'a >(b)',
      'a =(b)',
      'a &> b',
      'a |& b',
      'function f { a; }',
    ],
    ...[
      'x[0]=1; a',
      'x+=1; a',
      'x=(1); a',
      'a {b,c}',
      'a x{b,c}',
      'x=\\\n(1); a',
      'a ~+',
      'a ~-/x',
      'a 10< b',
      'a {x}< b',
      'time a',
      'coproc a',
      'select x in 1; do a; done',
    ],
  ])('parses %s differently', async (line) => {
    expect([line, (await parts(line, 'sh')).includes(UNLIKE)]).toEqual([line, true]);
    expect([line, (await parts(line)).includes(UNLIKE)]).toEqual([line, false]);
  });

  it.each([
    'x=1; a',
    'a ~/b',
    'a a~+',
    'a 9< b',
    'a 2> b',
    'a {b',
    `a \${x}`,
    `a \${xy}`,
    'a $x',
    'for x in 1; do a; done',
    'f() { a; }',
    'a functional',
    'myfunction a',
  ])('parses %s alike', async (line) =>
    expect([line, (await parts(line, 'sh')).includes(UNLIKE)]).toEqual([line, false]),
  );

  it.each(['path', 'cdpath', 'fpath', 'module_path'])(
    'may take %s for what tells it where programs are',
    async (name) => {
      expect(await parts(`${name}=x; a`, 'sh')).toContain(`? it sets ${name}, which may change what runs`);
      expect(await parts(`${name}=x; a`)).toEqual(['a']);
      for (const other of [`x${name}`, `${name}x`]) expect(await parts(`${other}=x; a`, 'sh')).toEqual(['a']);
    },
  );
});
