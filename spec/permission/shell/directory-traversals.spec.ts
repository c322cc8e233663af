import { describe, expect, it } from '@jest/globals';
import { isMetadataOnly, type Traversal, traversalsOf } from '../../../lib/permission/shell/directory-traversals.js';
import { commandOf, lineOf } from '../../support/command-parts.js';

type Read = Omit<Traversal, 'roots'> & { readonly roots: readonly string[] };

/** What a program reads that is told no more than to read folders. */
const ALL: Read = {
  ...{ roots: [], includesHidden: true, recursive: true, followsLinks: false },
  ...{ include: [], excludeFiles: [], excludeFolders: [] },
};
const SEEN: Partial<Read> = { includesHidden: false };

async function readBy(line: string): Promise<readonly Read[]> {
  const { parts, words } = await lineOf(line);
  return traversalsOf(parts, words).map((one) => ({
    ...one,
    roots: one.roots.map(({ value, text }) => value ?? text),
  }));
}

const expectReads = async (line: string, read: Partial<Read>): Promise<void> =>
  expect([line, await readBy(line)]).toEqual([line, [{ ...ALL, ...read }]]);
const expectNone = async (line: string): Promise<void> => expect([line, await readBy(line)]).toEqual([line, []]);

describe('grep', () => {
  it.each([
    '-r',
    '-R',
    '-nR',
    '-rn',
    '--recursive',
    '--rec',
    '--dereference-recursive',
    '-d recurse',
    '--directories=recurse',
  ])('reads folders with %s, under any name', async (option) => {
    const followsLinks = /R|der/.test(option);
    for (const name of ['grep', 'egrep', 'fgrep', 'zgrep', '/usr/bin/grep'])
      await expectReads(`${name} ${option} x sub`, { roots: ['sub'], followsLinks });
  });

  it.each([
    ...['-n x sub', 'x a-r', '--recursive=no x', 'x recursed', '--directories=recurse-not x', '--directories=skip x'],
    ...['x unrecurse', '-e x --color'],
  ])('reads none in %s', (rest) => expectNone(`grep ${rest}`));

  it.each(['A', 'B', 'C', 'D', 'd', 'm'])('takes the word after -%s for its value', async (letter) => {
    for (const option of [`-${letter}`, `-n${letter}`])
      await expectReads(`grep -r ${option} 3 x sub`, { roots: ['sub'] });
    await expectReads(`grep -r x-${letter} sub`, { roots: ['sub'] });
    await expectReads(`grep -r -${letter}3 x sub`, { roots: ['sub'] });
  });

  it.each(['after-context', 'before-context', 'context', 'max-count'])(
    'takes the word after --%s too',
    async (option) => {
      await expectReads(`grep -r --${option} 3 x sub`, { roots: ['sub'] });
      await expectReads(`grep -r --${option}=3 x sub`, { roots: ['sub'] });
    },
  );

  it.each(['-e x', '-ne x', '-f x', '--regexp x', '--regexp=x', '--reg=x', '--file x', '--file=x'])(
    'has no pattern among its operands with %s',
    (option) => expectReads(`grep -r ${option} sub`, { roots: ['sub'] }),
  );

  it.each(['--files-with-matches x', 'x-e', '--exclude-from=y x'])('has one with %s', (rest) =>
    expectReads(`grep -r ${rest} sub`, { roots: ['sub'] }),
  );

  it('knows which files and folders it is told to include and to exclude', async () => {
    const roots = ['sub'];
    for (const is of ['=', ' ']) {
      await expectReads(`grep -r --include${is}'*.ts' x sub`, { roots, include: ['*.ts'] });
      await expectReads(`grep -r --exclude${is}'*.ts' x sub`, { roots, excludeFiles: ['*.ts'] });
      await expectReads(`grep -r --exclude-dir${is}deep x sub`, { roots, excludeFolders: ['deep'] });
    }
    await expectReads("grep -r --include='*.a' --include='*.b' x sub", { roots, include: ['*.a', '*.b'] });
    await expectReads("grep -r --include='*.a' --exclude=b.a x sub", { roots });
    await expectReads("grep -r --include='*.a' --exclude-dir=b x sub", {
      roots,
      include: ['*.a'],
      excludeFolders: ['b'],
    });
    for (const word of ['a--include=b', 'a--exclude=b', 'a--exclude-dir=b'])
      await expectReads(`grep -r x ${word}`, { roots: [word] });
    for (const option of ['--include=', '--included=a', '--excluded=a', '--exclude-dirs=a'])
      await expectReads(`grep -r ${option} x sub`, { roots });
    await expectReads('grep -r x sub --include', { roots });
    await expectReads('grep -r x b-R', { roots: ['b-R'] });
    await expectReads('grep -r x - b', { roots: ['-', 'b'] });
  });
});

describe('a program that searches recursively by default', () => {
  it.each(['rg', 'ag'])('%s reads what is not hidden', async (name) => {
    await expectReads(`${name} x`, SEEN);
    await expectReads(`${name} -n x sub`, { ...SEEN, roots: ['sub'] });
    for (const option of ['-u', '-nu', '-.', '--hidden', '--unrestricted', '--no-ignore-vcs', '--all-types'])
      await expectReads(`${name} ${option} x sub`, { roots: ['sub'] });
    for (const word of ['a-u', 'a--hidden', 'a-L', 'a--follow', 'a--files', 'a-g', 'a--glob'])
      await expectReads(`${name} x ${word} sub`, { ...SEEN, roots: [word, 'sub'] });
    for (const option of ['-L', '-nL', '--follow'])
      await expectReads(`${name} ${option} x`, { ...SEEN, followsLinks: true });
  });

  it('ack reads hidden names too', async () => {
    await expectReads('ack x sub', { roots: ['sub'] });
    await expectReads('ack -L x sub', { roots: ['sub'], followsLinks: true });
  });

  it.each([
    ...['-A', '-B', '-C', '-E', '-M', '-T', '-d', '-j', '-m', '-r', '-t', '-nA'],
    ...['--type', '--type-not', '--after-context', '--before-context', '--context', '--max-count', '--max-depth'],
  ])('takes the word after %s as its value', (option) =>
    expectReads(`rg ${option} 3 x sub`, { ...SEEN, roots: ['sub'] }),
  );

  it.each(['-A3', 'x-A', '--context=3 x'].map((one) => [one, one.startsWith('-A') ? `${one} x` : one]))(
    'takes no word after %s',
    (_, words) => expectReads(`rg ${words} sub`, { ...SEEN, roots: ['sub'] }),
  );

  it.each(['-e x', '-ne x', '-f x', '--regexp x', '--regexp=x', '--file x', '--file=x'])(
    'has no pattern with %s',
    (option) => expectReads(`rg ${option} sub`, { ...SEEN, roots: ['sub'] }),
  );

  it.each(['--files-with-matches x', 'x-e', '--regexps x'])('has one with %s', (words) =>
    expectReads(`rg ${words} sub`, { ...SEEN, roots: ['sub'] }),
  );

  it('reads the files that it is told to', async () => {
    for (const option of ["-g '*.ts'", "--glob '*.ts'", "--glob='*.ts'", "-g='*.ts'"])
      await expectReads(`rg ${option} x sub`, { ...SEEN, roots: ['sub'], include: ['*.ts'] });
    await expectReads("rg -g 'a!' x", { ...SEEN, include: ['a!'] });
    await expectReads("rg -g '!a' x", SEEN);
    await expectReads('rg --glob-case-insensitive x sub', { ...SEEN, roots: ['sub'] });
  });
});

describe('a program that copies', () => {
  it.each([
    ['diff', ['-r', '-ur', '--recursive'], ['-u', 'a-r', 'a--rec']],
    [
      'tar',
      ['-c', '-zcf', '-rf', '-uf', '--create', '--append', '--update', '--catenate', '--concatenate'],
      ['-tf', '--extract', 'a-c'],
    ],
    ['tar', ['cf', 'c', 'zcf', 'vr', 'uf'], ['xf', 'tf', 'c.x', '--file=rc', '/c', 'x']],
    ['zip', ['-r', '-R', '-qr', '--recurse-paths'], ['-q', 'a-r', 'a--rec']],
    ['cp', ['-r', '-R', '-a', '-pr', '--recursive', '--archive'], ['-p', 'a-r', 'a--rec']],
    ['scp', ['-r', '-P22r', '-4r'], ['-p', 'a-r']],
    ['rsync', ['-r', '-a', '-vz --archive', '-va', '--recursive'], ['-v', 'a-r', 'a--archive']],
  ])('%s reads folders with each of %j, and not with %j', async (name, options, others) => {
    for (const option of options)
      await expectReads(`${name} ${option} sub`, {
        roots: [...option.split(' ').filter((word) => !word.startsWith('-')), 'sub'],
      });
    for (const option of others) await expectNone(`${name} ${option} sub`);
  });

  it.each(['cat', 'sed', 'constructor', 'toString'])('reads none where it is %s', (name) =>
    expectNone(`${name} -r sub`),
  );
});

it('does not treat another program as ripgrep, whose files are only listed', () =>
  expectReads('ag --files x', { ...SEEN, roots: ['x'] }));

describe('git', () => {
  it.each(['grep --no-index', 'grep --untracked', 'diff --no-index'])('reads what it does not track with %s', (words) =>
    expectReads(`git ${words} sub`, { roots: [words.split(' ')[0] ?? '', 'sub'] }),
  );
  it.each(['grep x', 'diff x', 'greps --no-index', 'my-grep --no-index', 'grep a--no-index', 'status --no-index'])(
    'does not with %s',
    (words) => expectNone(`git ${words}`),
  );
});

describe('a program that lists names for another one', () => {
  it.each([
    ['ls', { ...SEEN, recursive: false }],
    ['ls sub', { ...SEEN, recursive: false, roots: ['sub'] }],
    ...['-a', '-A', '-f', '-la', '--all', '--almost-all'].map((one) => [`ls ${one}`, { recursive: false }] as const),
    ...['-R', '-lR', '--recursive'].map((one) => [`ls ${one}`, SEEN] as const),
    ['ls -l a-a a-R', { ...SEEN, recursive: false, roots: ['a-a', 'a-R'] }],
    ['fd', SEEN],
    ['fd x sub', { ...SEEN, roots: ['sub'] }],
    ['fdfind x sub', { ...SEEN, roots: ['sub'] }],
    ...['-H', '-u', '-I', '-aH', '--hidden', '--unrestricted', '--no-ignore'].map(
      (one) => [`fd ${one} x`, {}] as const,
    ),
    ['fd -a x a-H', { ...SEEN, roots: ['a-H'] }],
    ['rg --files', SEEN],
    ['rg --files -t ts sub', { ...SEEN, roots: ['sub'] }],
    ['rg --files --hidden sub', { roots: ['sub'] }],
    ['git ls-files -o', {}],
    ['git ls-files -mo', {}],
    ['git ls-files --others', {}],
    ['find', {}],
    ['find sub other', { roots: ['sub', 'other'] }],
    ['find sub -name x', { roots: ['sub'], include: ['x'] }],
    ['find a-b sub -type f', { roots: ['a-b', 'sub'] }],
    ['find -L sub', { followsLinks: true }],
    ['find sub -follow', { roots: ['sub'], followsLinks: true }],
    ['find sub -Lx', { roots: ['sub'] }],
    ['find a-L', { roots: ['a-L'] }],
    ...["'('", '!', ','].map((one) => [`find sub ${one} x`, { roots: ['sub'] }] as const),
    ...['-o', '-or', '!', '-not', ',', "'('"].map((one) => [`find sub -name a ${one} b`, { roots: ['sub'] }] as const),
    ...['x-o', '(a', '!a', 'a!', ',a'].map((one) => [`find -name '${one}'`, { include: [one] }] as const),
    ['find -name a -other b', { include: ['a'] }],
    ['find x-name y', { roots: ['x-name', 'y'] }],
    ['find -names y', {}],
    ['find -name a -name b', { include: ['a', 'b'] }],
  ] as readonly (readonly [string, Partial<Read>])[])('%s', async (line, read) => {
    await expectReads(`${line} | xargs cat`, read);
    await expectReads(`cat $(${line})`, read);
    await expectNone(`${line} | xargs ls`);
    await expectNone(`${line} | head`);
  });

  it.each([
    'git ls-files',
    'git ls-files a-o',
    'git show -o',
    'git my-ls-files -o',
    'git ls-files-all -o',
    'echo a',
    'which x',
  ])('%s names no file that may be a private one', (line) => expectNone(`${line} | xargs cat`));

  it.each([
    'for f in `find sub`; do cat "$f"; done',
    'find sub | while read f; do cat "$f"; done',
    'find sub | mapfile all; cat $all',
    'find sub | readarray all; cat $all',
    'find sub -exec cat {} +',
    "find sub -exec sh -c 'cat x' ';'",
    'find sub | xargs env cat',
    'find sub | xargs env stat',
    'find sub | xargs cat > out; let x',
  ])('passes them on in %s', async (line) => expect(await readBy(line)).toEqual([{ ...ALL, roots: ['sub'] }]));

  it.each([
    ...[
      'find sub | reader f; cat $f',
      'find sub | unread f; cat $f',
      'find sub; cat $f',
      'find sub | while read f; do ls "$f"; done',
    ],
    ...['find sub | while read f; do cat x; done', 'for f in $(find sub); do echo $f; done', 'find sub | env cat'],
    ...[
      'basename dirname echo printf realpath readlink du test [ cd true :'
        .split(' ')
        .map((name) => `find sub | xargs ${name}`),
    ].flat(),
  ])('passes none on in %s', expectNone);

  it('passes them on to a program that reads each file', async () => {
    const [first] = await readBy("find sub | xargs -I% find y -exec cat {} ';'");
    expect(first).toEqual({ ...ALL, roots: ['sub'] });
    expect(await readBy("find sub; echo '$(x)'; cat $f")).toEqual([]);
    expect([isMetadataOnly(await commandOf('/bin/ls -l')), isMetadataOnly(await commandOf('cat x'))]).toEqual([
      true,
      false,
    ]);
  });
});
