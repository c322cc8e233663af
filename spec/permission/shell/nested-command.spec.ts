import { describe, expect, it } from '@jest/globals';
import { type NestedCommand, nestedCommand } from '../../../lib/permission/shell/nested-command.js';
import { commandOf } from '../../support/command-parts.js';

const run = async (line: string): Promise<NestedCommand> => nestedCommand((await commandOf(line)).words);

/**
 * What a command runs, in short: nothing, `5: words` from the fifth on, `script`, `?` for what is not in the text, `!`
 * for an unclear effect.
 */
async function ran(line: string): Promise<string> {
  const found = await run(line);
  switch (found.kind) {
    case 'nothing':
      return '';
    case 'words': {
      const words = [...found.assignments, ...found.words].map(({ value }) => value ?? '*');
      return `${found.start}: ${words.join(' ')}`;
    }
    case 'script':
      return `${found.shell ?? 'same'}: ${found.script}`;
    case 'unclear':
      return `${found.mayHideCommands ? '?' : '!'} ${found.reason}`;
  }
}

const expectRuns = async (line: string, what: string): Promise<void> =>
  expect([line, await ran(line)]).toEqual([line, what]);

describe('a builtin that changes what later words mean', () => {
  it.each([
    [['declare', 'typeset', 'local', 'readonly', '/x/declare'], 'it sets variables'],
    [['export'], 'it sets variables of other programs'],
    [['unset'], 'it removes variables or functions'],
    [['let'], 'it calculates with variables'],
    [
      ['shopt', 'bind', 'complete', 'set -a', 'set -o posix', 'set $x', 'set -oa', 'set x'],
      'it changes how bash parses commands',
    ],
    [['set -e -k', 'set xnoglob', 'set noglobs', 'set a-e', 'set -1'], 'it changes how bash parses commands'],
    [['alias', 'enable', 'hash'], 'it gives other commands a new meaning'],
  ])('%j: %s', async (lines, reason) => {
    for (const line of lines) await expectRuns(line, `? ${reason}`);
  });

  it.each([
    ...[
      'set',
      'set -e',
      'set -euo pipefail',
      'set +x',
      'set -o errexit',
      'set -o nounset -o xtrace',
      'set -fo noglob',
      'set -C',
      'set -o noclobber',
    ],
    ...['constructor', 'ls', 'toString x'],
  ])('%s is not one', (line) => expectRuns(line, ''));
});

describe('a program that runs others in its own way', () => {
  it.each([
    'fc',
    'parallel',
    'watch',
    'su',
    'runuser',
    'chroot',
    'unshare',
    'script',
    'flock',
    'fish',
    'screen',
    'tmux',
    'at',
    'crontab',
  ])('%s', (name) => expectRuns(`/usr/bin/${name} x`, `? ${name} runs other commands`));
  it('may run anything if its name is unknown', async () => {
    for (const line of ['$x y', '"" y']) await expectRuns(line, '? it is unclear which program runs');
  });
});

describe('a builtin that runs text', () => {
  it.each([
    ['eval a "b  c"', 'same: a b  c'],
    ['eval', 'same: '],
    ['eval a $x', '? it evaluates text that is not part of the command'],
    ['trap', ''],
    ['trap - EXIT', ''],
    ["trap 'rm x' EXIT", 'same: rm x'],
    ['trap "$x" EXIT', '? it sets a trap whose text is not part of the command'],
    ['source x y', '1: ./x y'],
    ['. lib/x', '1: lib/x'],
    ['. $x', '1: *'],
    ['source', ''],
    ['source /dev/stdin', '? the shell runs its input'],
    ['. /dev/fd/3', '? the shell runs its input'],
    ['. /proc/self/fd/0', '? the shell runs its input'],
    ['. x/dev/stdin', '1: x/dev/stdin'],
    ['. /dev/stdins', '? the shell runs its input'],
    ['. /proc/fd', '1: /proc/fd'],
  ])('%s', expectRuns);
});

describe('find', () => {
  it.each([
    ['find . -name x', ''],
    ['find . -name "$x"', '? find may run or delete something'],
    ['find . $x', '? find may run or delete something'],
    ['find ./"$x" -type f', ''],
    ...['-delete', '-execdir', '-okdir', '-fprint', '-fprint0', '-fprintf', '-fls'].map((one) => [
      `find . ${one} x`,
      `! find ${one} changes or runs something`,
    ]),
    ['find . -deleted', ''],
    ['find . a-delete', ''],
    ['find . a-fls -flsx', ''],
    ["find . -exec rm -f {} ';'", '3: rm -f *'],
    ["find . -ok rm a{}b x ';'", '3: rm * x'],
    ['find . -exec rm {} +', '3: rm *'],
    ["find . -exec rm {} b ';'", '3: rm * b'],
    ["find . -exec a + b {} ';'", '3: a + b *'],
    ["find . -name ';' -exec rm ';'", '5: rm'],
    ['find . -exec rm {}', '? find runs several commands'],
    ["find . -exec a ';' -exec b ';'", '? find runs several commands'],
    ["find . -exec a ';' -ok b ';'", '? find runs several commands'],
    ['find . -exec rm +', '? find runs several commands'],
  ])('%s', expectRuns);
});

describe('git', () => {
  it.each([
    ['git log --output=x', '! git --output=x may write a file or run a program'],
    ['git log --ou x', '! git --ou may write a file or run a program'],
    ['git diff --ext', '! git --ext may write a file or run a program'],
    ['git-diff --ext-diff', '! git --ext-diff may write a file or run a program'],
    ['git log --extended-regexp', ''],
    ['git log a--output', ''],
    ['git log $x', ''],
    ['digit-x --output', ''],
  ])('%s', expectRuns);
});

describe('a shell', () => {
  it.each([
    ...['bash', 'rbash', '/bin/bash'].map((name) => [`${name} -c 'a b' c`, 'bash: a b']),
    ...['sh', 'dash', 'zsh', 'ksh', 'mksh', 'ash'].map((name) => [`${name} -c 'a b'`, 'sh: a b']),
    ...[
      '-ec',
      '-xc',
      '-lc',
      '-ic',
      '-uc',
      '-euxc',
      '-e -c',
      '-o errexit -c',
      '-eo errexit -c',
      '+o posix -c',
      '-n -c',
      '+e -c',
    ].map((one) => [`bash ${one} a`, 'bash: a']),
    ...['--norc', '--noprofile', '--posix', '--login', '-v', '-l'].map((one) => [`bash ${one} -c a`, 'bash: a']),
    ...['--version', '--help'].map((one) => [`bash ${one} x`, '']),
    ['bash x y', '1: ./x y'],
    ['bash ./x', '1: ./x'],
    ['bash -e x', '2: ./x'],
    ['bash -ev x', '2: ./x'],
    ['bash x"$y"', '1: *'],
    ['bash $x', '? the arguments of the shell are unclear'],
    ['bash -e $x', '? the arguments of the shell are unclear'],
    ['bash -c', '? it runs a script whose text is not part of the command'],
    ['bash -c "$x"', '? it runs a script whose text is not part of the command'],
    ...['bash', 'bash -e', 'bash /dev/stdin', 'sh /proc/1/fd/0', 'bash -o errexit'].map((line) => [
      line,
      '? the shell runs its input',
    ]),
    ...[
      '-s',
      '-q',
      '--rcfile',
      '-',
      '--norcs',
      '--posixly',
      '--versions',
      '-eco',
      '-cx',
      '--x--help',
      '-xo1',
      '--a-norc',
    ].map((one) => [`bash ${one} x`, `? the shell option ${one} is not known`]),
    ["sh -c 'a &> b'", '? sh may parse it differently'],
    ["bash -c 'a &> b'", 'bash: a &> b'],
    ["xbash -c 'a'", ''],
  ])('%s', expectRuns);
});

describe('a builtin that evaluates names', () => {
  it.each(['mapfile', 'readarray'])('%s', async (name) => {
    for (const rest of ['-C x y', '-tC x y', '"$x"'])
      await expectRuns(`${name} ${rest}`, `? ${name} may run a command for each line`);
    await expectRuns(`${name} lines`, '');
    await expectRuns(`${name} -t lines`, '');
    await expectRuns(`${name} a-C`, `? ${name} may evaluate its arguments`);
  });

  it.each([
    ['printf \'%s\' "$x"', ''],
    ["printf '%s' 'a[1]' -v", ''],
    ['printf "$x"', '? printf may evaluate its arguments'],
    ['printf -v x y', '? printf may evaluate its arguments'],
    ['printf', ''],
    ['read line', ''],
    ['read -r line_2', ''],
    ['read _x', ''],
    ['read PATH', '? read may evaluate its arguments'],
    ['read 1', '? read may evaluate its arguments'],
    ['read Ax', '? read may evaluate its arguments'],
    ['read xA', '? read may evaluate its arguments'],
    ['read $x', '? read may evaluate its arguments'],
    ["read 'a[x]'", '? read may evaluate its arguments'],
    ['wait $x', '? wait may evaluate its arguments'],
    ['getopts ab opt', ''],
    ['getopts a: opt', '? getopts may evaluate its arguments'],
    ['test -f X', ''],
    ['[ -n X ]', ''],
    ["[ 'a[b' ]", '? [ may evaluate its arguments'],
    ["test 'a[b'", '? test may evaluate its arguments'],
    ['test -v x', '? test may evaluate its arguments'],
    ['test -R x', '? test may evaluate its arguments'],
    ['test a-v x', ''],
    ['test $x', '? test may evaluate its arguments'],
    ['echo -v $x', ''],
  ])('%s', expectRuns);
});

describe('a program that runs the rest of its words', () => {
  it.each([
    ...[
      'builtin',
      'busybox',
      'chronic',
      'eatmydata',
      'fakeroot',
      'linux32',
      'linux64',
      'nohup',
      'ssh-agent',
      'torsocks',
      'unbuffer',
    ],
    ...[
      'caffeinate -d -i -m -s -u',
      'caffeinate -dimsu',
      'command -p',
      'doas -n -u root',
      'doas -nuroot',
      'env -i -0 -u X',
      'env -i0uX',
    ],
    ...[
      'env --ignore-environment --null',
      'exec -c -l -a x',
      'exec -clax',
      'ionice -t -c 2 -n 7',
      'ionice -tc2',
      'ltrace -f -c -C -e x -s 9',
    ],
    ...[
      'nice -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -n 5',
      'nice -n5',
      'nice -19',
      'setsid -c -f -w --wait --fork --ctty',
      'stdbuf -i 0 -o L -e 0',
      'stdbuf -oL',
    ],
    ...[
      'strace -f -c -C -q -r -t -T -v -x -y -e x -p 1 -s 9',
      'sudo -n -E -H -P -S -b -A -u a -g b -p c',
      'sudo --non-interactive',
    ],
    ...[
      'sudo --preserve-env --set-home',
      '/usr/bin/time -p',
      'valgrind -q -v',
      'gosu root',
      'su-exec root',
      'taskset -a 3',
      'timeout 5',
      'timeout -v -s KILL -k 3 5',
    ],
    ...['timeout --foreground --preserve-status --verbose 5', 'timeout -sKILL 5', '/usr/bin/nice'],
  ])('%s', async (wrapper) => {
    const count = wrapper.split(' ').length;
    await expectRuns(`${wrapper} rm -x`, `${count}: rm -x`);
    if (!/^(gosu|su-exec|taskset|timeout)/.test(wrapper))
      await expectRuns(`${wrapper} -- rm -x`, `${count + 1}: rm -x`);
    await expectRuns(wrapper, '');
  });

  it.each([
    ...[
      'builtin -x',
      'env -x',
      'env -S',
      'env --chdir',
      'nice --adjustment=5',
      'nohup -x',
      'sudo -e',
      'sudo -i',
      'sudo --login',
      'strace -o',
      'exec -x',
    ],
    ...[
      'strace -D',
      'timeout -f',

      'stdbuf -x',
      'valgrind --trace',
      'setsid --x',
      'taskset -p',
      'ltrace -o',
      'command -x',
    ],
  ])('is unknown with %s', async (line) => {
    const [program, option] = line.split(' ');
    await expectRuns(`${line} rm`, `? the option ${option} of ${program} may run something else`);
  });

  it.each([
    ['env $x rm', '? the arguments of env are unclear'],
    ['timeout "$x" rm', '? the arguments of timeout are unclear'],
    ['env x"$y" rm', '1: * rm'],
    ['command -v rm', ''],
    ['command -V rm', ''],
    ['command -pv rm', ''],
    ['command x-v', '1: x-v'],
    ['builtin -v rm', '? the option -v of builtin may run something else'],
    ['env - rm', '1: - rm'],
    ['env A=1 b=2 rm C=3', '3: A=1 b=2 rm C=3'],
    ['sudo A=1 rm', '2: A=1 rm'],
    ['nice A=1 rm', '1: A=1 rm'],
    ['env a/b=c rm', '1: a/b=c rm'],
    ['env =a rm', '1: =a rm'],
    ['env A', '1: A'],
    ['env AB=1 rm', '2: AB=1 rm'],
    ['env A=1', ''],
    ['nice -nx', ''],
    ['timeout -- 5 rm', '2: 5 rm'],
  ] as [string, string][])('%s', expectRuns);

  it.each([
    ['xargs rm', '1: rm *'],
    ['xargs', ''],
    ...[
      '-0',
      '-r',
      '-t',
      '-x',
      '-0r',
      '--null',
      '--no-run-if-empty',
      '--verbose',
      '-n5',
      '-P4',
      '-d,',
      '-L1',
      '-s9',
      '-aF',
      '-Ex',
    ].map((one) => [`xargs ${one} rm`, '2: rm *']),
    ...['-n', '-P', '-d', '-L', '-s', '-a', '-E', '-0n'].map((one) => [`xargs ${one} 5 rm`, '3: rm *']),
    ['xargs -I % rm a%b c', '3: rm * c'],
    ['xargs -I% rm % c', '2: rm * c'],
    ['xargs -0I% rm c', '2: rm c'],
    ['xargs -I', ''],
    ["xargs -I '' rm c", '3: * *'],
    ['xargs -I % rm x"$y"', '3: rm *'],
    ['xargs --max-args=1 rm', '? the option --max-args=1 of xargs may run something else'],
    ['xargs -i rm', '? the option -i of xargs may run something else'],
  ] as [string, string][])('%s', expectRuns);

  it('leaves options to its input', async () => {
    const found = await run('xargs -I % rm %');
    expect(found.kind === 'words' && found.words.map(({ mayBeOption }) => mayBeOption)).toEqual([false, true]);
    const appended = await run('xargs rm');
    expect(appended.kind === 'words' && appended.words.map(({ mayBeOption }) => mayBeOption)).toEqual([false, true]);
  });
});
