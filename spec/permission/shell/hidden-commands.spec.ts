import { describe, expect, it } from '@jest/globals';
import {
  isInert,
  isInterpreter,
  isUnknownProgram,
  mayHideCommand,
  mayTellWhatRuns,
} from '../../../lib/permission/shell/hidden-commands.js';
import { commandOf } from '../../support/command-parts.js';

const wordsOf = async (line: string) => (await commandOf(line)).words;
const hides = async (line: string): Promise<boolean> => mayHideCommand(await wordsOf(line));

/** Of each known program: lines that run what is not in them, and lines like them that do not. */
const KNOWN: readonly (readonly [hiding: readonly string[], plain: readonly string[]])[] = [
  [
    [
      ...[
        'git log -c',
        'git rebase -x make',
        'git grep -O less',
        'git log -px',
        'git lg',
        'git grep -nO',
        'git grep -nlO',
        'git log --config=x',
      ],
      ...['git rebase --exec make', 'git fetch --upload-pack=x', 'git push --receive-pack=x', 'git log --rec'],
      ...[
        'git grep --open-files',
        'git diff --ext-diff',
        'git show --textconv',
        'git config a b',
        'git help filter-branch',
      ],
      ...[
        'git submodule foreach x',
        'git bisect run x',
        'git help bisect',
        'git submodule',
        'git difftool',
        'git fetch ext::x',
      ],
    ],
    [
      ...['git log a-c', 'git log -3', 'git log --oneline', 'git add config.ts', 'git add my-config', 'git add runs'],
      ...['git fetch next::x', 'git log a--exec', 'git log --9x', 'git log -3x', 'git log -p'],
    ],
  ],
  [
    [
      ...[
        'tar cf x --to-command=y',
        'tar --checkpoint-action=exec=y -cf x',
        'tar --use-compress-program=x',
        'tar --rsh-command=x',
      ],
      ...[
        'tar --rmt-command=x',
        'tar --info-script=x',
        'tar --new-volume-script=x',
        'tar -I x -f y',
        'tar -F x',
        'tar cIf x y',
      ],
      ...['tar -cvIf x', 'gtar -I x', 'bsdtar -I x', 'tar cF x y'],
    ],
    ['tar cf x y', 'tar -cf x', 'tar --create a--to', 'tar xf ./Inner', 'tar --file=x'],
  ],
  [
    ['rsync -e ssh a b', 'rsync -ae ssh a b', 'rsync --rsh=x a b'],
    ['rsync -a a b', 'rsync a-e b', 'rsync a--rsh b', 'rsync -9e b'],
  ],
  [
    ['ssh -o ProxyCommand=x h', 'ssh -o proxycommand=x h'],
    ['ssh h', 'ssh -p 22 h'],
  ],
  [
    ['scp -o ProxyCommand=x a h:', 'scp -S x a h:', 'scp -rS x a h:', 'scp -4S x a h:', 'scp -oproxycommand=x a h:'],
    ['scp a h:', 'scp -r a h:', 'scp a-S h:'],
  ],
  [['sort --compress-program=x a'], ['sort a', 'sort -u a', 'sort a--compress']],
  [
    [
      ...[
        "sed '1e x' y",
        "sed 'e x' y",
        "sed '/a/e' y",
        "sed '$e x' y",
        "sed '1!e x' y",
        "sed '1,2e x' y",
        "sed '{e x}' y",
      ],
      ...[
        "sed '1 e x' y",
        "sed ';e' y",
        "sed 's/a/b/e' y",
        "sed 's/a/b/ge' y",
        "sed 's/a/b/2e' y",
        "sed 's/a/b/ew x' y",
      ],
      ...[
        "sed 's|a|b|e;p' y",
        "sed 's/a/b/e}' y",
        "sed 's/a/b/eI' y",
        "sed 's/a/b/e ' y",
        "sed $'p\\ne x' y",
        "sed 's/a/b/ep' y",
      ],
      ...[
        ...[
          "sed '1erm x' y",
          "sed '/a/erm x' y",
          "sed '/a/Ierm x' y",
          "sed '$!erm x' y",
          "sed 'p;erm x' y",
          "sed 'p; erm x' y",
        ],
        ...["sed '1,2erm x' y", "sed -e'1erm x' y", "sed --expression='1erm x' y", "sed 'erm x' y", "sed '{erm x;}' y"],
        ...[
          "sed '/a/ erm x' y",
          "sed '1e;x' y",
          "sed 's/a/b/ewout' y",
          "sed 's/a/b/2pew out' y",
          'sed 1pe y',
          'sed -e e',
        ],
        'sed -f x y',
        'sed -nf x y',
        'sed -E -f x',
        'sed -znEursf x',
        'sed --file=x y',
        'gsed 1e',
        'sed aesthetic -f',
      ],
    ],
    [
      "sed 's/a/b/' y",
      "sed 's/a/b/g' y",
      'sed -n 1p y',
      "sed '/e/d' y",
      "sed 's/e/ee/g' y",
      'sed -i p a-f',
      'sed p a--f',
      "sed 's/xe/y/' z",
    ],
  ],
  [
    [
      ...[
        'awk \'BEGIN{system("x")}\'',
        "awk 'system (x)'",
        "awk 'system\\\n(x)'",
        'awk \'{print | "x"}\'',
        "awk '| x'",
        "awk 'x |'",
      ],
      ...[
        "awk '@load x'",
        'awk -f x',
        'awk -vf x',
        'awk -i x',
        'awk -E x',
        'awk -l x',
        'awk --file=x',
        'awk --include=x',
        'awk --exec=x',
      ],
      ...['awk --load=x', 'gawk -f x', 'mawk -f x', 'nawk -f x'],
    ],
    ["awk '{print $1}' x", "awk '$1 || $2' x", 'awk -F : x', 'awk x a-f', 'awk x a--file', "awk 'a||b' x", 'awk -9f x'],
  ],
  [
    ['rg --pre x y', 'rg --pre=x y', 'rg --hostname-bin=x y'],
    ['rg x', 'rg -n x', 'rg a--pre'],
  ],
  [
    ['fd -x rm', 'fd -X rm', 'fd -Hx rm', 'fd --exec rm', 'fd --exec-batch rm', 'fdfind -x rm'],
    ['fd x', 'fd -H x', 'fd a-x', 'fd a--exec', 'fd -9x'],
  ],
  [['less +x y'], ['less x', 'less a+b']],
  [
    [
      ...[
        'npm --script-shell=x test',
        'npm --node-options=x test',
        'npm --call x',
        'npm -c x',
        'npm --git=x i',
        'npm --editor=x',
        'npm --viewer=x',
      ],
      ...[
        'npm exec x',
        'npm x y',
        'npm explore x',
        'npm dlx x',
        'npm create x',
        'npm init x',
        'pnpm dlx x',
        'yarn dlx x',
        'npm -script-shell=x',
      ],
    ],
    [
      'npm test',
      'npm run lint',
      'npm install x-c',
      'npm run execute',
      'npm run my-exec',
      'npm run --fix',
      'npm run a--call',
      'npm -cx test',
    ],
  ],
  [['cargo --config x build'], ['cargo build', 'cargo build a--config']],
  [
    ['go build -toolexec x', 'go test -exec x', 'go vet -vettool=x', 'go build --toolexec=x'],
    ['go build', 'go build a-exec'],
  ],
];

describe('a known program', () => {
  it.each(KNOWN.flatMap(([hiding]) => hiding))('may run something that is not among its words: %s', async (line) => {
    expect(await hides(line)).toBe(true);
  });
  it.each(KNOWN.flatMap(([, plain]) => plain))('runs nothing else: %s', async (line) => {
    expect(await hides(line)).toBe(false);
  });
  it('may be given any option by a word that may be one, and nothing by other words', async () => {
    for (const name of ['git', 'tar', 'npm']) {
      expect([name, await hides(`${name} push $x`)]).toEqual([name, name !== 'git' || true]);
      expect([name, await hides(`${name} push x"$x"`)]).toEqual([name, false]);
    }
  });
});

describe('any other program', () => {
  it.each(['cat', 'grep', 'cp', 'rm', 'test', 'sleep', 'seq', 'chmod', '/bin/LS'])(
    'runs nothing where it is %s',
    async (name) => {
      const words = await wordsOf(`${name} "$x" 'a;b' -c`);
      expect([mayHideCommand(words), isInert(words), isUnknownProgram(words)]).toEqual([false, true, false]);
    },
  );

  it('is unknown, unless its options are known and it runs nothing that is not among them', async () => {
    for (const [line, isUnknown] of [
      ['make', true],
      ['ssh h x', true],
      ['git x', false],
      ['gsed x', false],
      ['constructor', true],
    ] as const)
      expect([line, isUnknownProgram(await wordsOf(line)), isInert(await wordsOf(line))]).toEqual([
        line,
        isUnknown,
        false,
      ]);
  });

  it.each([
    ...[
      "x 'a`b`'",
      "x 'a;b'",
      "x 'a|b'",
      "x 'a&b'",
      "x 'a!b'",
      "x 'f(x)'",
      "x '{a}'",
      "x '$a'",
      "x 'a<b'",
      "x 'a>b'",
      "x $'a\\nb'",
    ],
    ...[
      'x $y',
      'x "$y"',
      'git-x',
      "x 'https://h/$(y)'",
      "x 'a https://h/;'",
      "x 'https://h/a b;'",
      "x '9://h;'",
      "x '(https://h'",
    ],
  ])('may run code in one of its words: %s', async (line) => expect(await hides(line)).toBe(true));

  it.each([
    "x 'a b'",
    'x a=b',
    "x 'https://h/?a=1&b={c}'",
    "x 'GIT+ssh://h/a&b'",
    'x -a --b',
    'digit-x',
    'constructor x',
  ])('runs no code without such a word: %s', async (line) => expect(await hides(line)).toBe(false));

  it.each([
    ...[
      'python',
      'python3',
      'python3.12',
      'pypy',
      'pypy3',
      'perl',
      'perl5.36',
      'ruby',
      'ruby3.1',
      'node',
      'nodejs',
      'bun',
      'deno',
      'php',
    ],
    ...[
      'lua',
      'lua5.4',
      'tclsh',
      'expect',
      'osascript',
      'newgrp',
      'sg',
      'ed',
      'ex',
      'gdb',
      'lldb',
      'sqlite3',
      'psql',
      'mysql',
      'irb',
    ],
    ...['ghci', 'at', 'm4'],
  ])('%s runs its input if it is given no file', async (name) => {
    const readsInput = /^(ed|ex|gdb|lldb|sqlite3)$/;
    expect(isInterpreter(await wordsOf(`${name} x`))).toBe(true);
    for (const line of [name, `${name} -`, `${name} --help`]) expect([line, await hides(line)]).toEqual([line, true]);
    for (const line of [`${name} x.py`, `${name} -v a`])
      expect([line, await hides(line)]).toEqual([line, readsInput.test(name)]);
  });

  it.each(['mypython', 'nodes', 'rubyx', 'make', 'perlx', 'luax', 'pypyx', 'pythonx'])(
    '%s is no interpreter',
    async (name) => {
      expect([isInterpreter(await wordsOf(`${name} x`)), await hides(name)]).toEqual([false, false]);
    },
  );
});

describe('a variable set for one command', () => {
  const tells = async (assignment: string): Promise<boolean> => {
    const [first] = (await commandOf(`${assignment} x`)).assignments;
    return first === undefined || mayTellWhatRuns(first);
  };

  it.each([
    ...[
      'GIT_DIR',
      'GIT_X',
      'LD_PRELOAD',
      'DYLD_X',
      'BASH_ENV',
      'BASHOPTS',
      'PERL5LIB',
      'PYTHONSTARTUP',
      'RUBYLIB',
      'NODE_OPTIONS',
      'JAVA_TOOL',
    ],
    ...[
      '_JAVA_OPTIONS',
      'MAKEFILES',
      'GNUMAKEFLAGS',
      'LESSOPEN',
      'MANPAGER',
      'PS1',
      'PS4',
      'ENV',
      'IFS',
      'CDPATH',
      'GLOBIGNORE',
      'SHELLOPTS',
    ],
    ...[
      'PATH',
      'MY_PATH',
      'X_COMMAND',
      'PAGER',
      'X_EDITOR',
      'VISUAL',
      'BROWSER',
      'SHELL',
      'X_OPT',
      'X_OPTS',
      'X_OPTIONS',
      'CFLAGS',
      'X_WRAPPER',
    ],
    ...['X_PRELOAD', 'X_PROGRAM', 'X_HELPER', 'SSH_ASKPASS', 'X_CMD', 'XRC', 'HOME', 'X_DIR', 'PATH+', 'X_DIR+'],
  ])('%s may change what runs', async (name) => expect(await tells(`${name}=a`)).toBe(true));

  it.each(["X='a b'", "X='$(y)'", 'X=$y', "X='a;b'", "X='a|b'", "X='*'", "PORT='1\n2'"])(
    '%s may be more than a word',
    async (one) => expect(await tells(one)).toBe(true),
  );

  it.each([
    ...[
      'PORT=3000',
      'LC_ALL=C.UTF-8',
      'A=',
      'PS12=a',
      'MY_ENV=a',
      'ENVX=a',
      'IFSX=a',
      'XIFS=a',
      'PATHS=a',
      'X=a.b,c:/d@e%f+g-h',
      'AGIT_X=a',
    ],
    ...['PSA=a', 'X+=a', 'CDPATHS=a', 'GLOBIGNORED=a', 'SHELLOPTSX=a', 'X=a=b'].slice(0, 5),
  ])('%s does not change what runs', async (one) => expect(await tells(one)).toBe(false));

  it('that is not set says nothing', () => {
    expect(mayTellWhatRuns({ text: 'x', value: 'x', mayBeOption: false })).toBe(true);
  });
});
