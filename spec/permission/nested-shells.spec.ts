import { describe, expect, it } from '@jest/globals';
import { judgeWith } from '../support/judging.js';

const rules = (...texts: readonly string[]) => texts.map((text) => `bash(${text})`);

describe('a command that a shell runs', () => {
  const judge = judgeWith({
    allow: rules('bash:*', 'sh:*', 'zsh:*', 'ls:*', './build.sh:*', 'xargs:*', 'command:*', 'env:*'),
  });

  it.each([
    'bash -c "ls"',
    'bash -ec "ls"',
    'sh -c "ls -la"',
    'bash --norc --noprofile -c ls',
    'bash --posix -c ls',
    'bash --login -c ls',
    'bash -o pipefail -c ls',
    'bash -euo pipefail -c ls',
    'bash +o posix -c ls',
    'bash -x -c ls',
    'bash --version',
    'bash --help',
    'bash build.sh',
    'command -v anything',
    'command -V anything',
    'env -- ls',
  ])('is found: %s', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'allow' });
  });

  it.each([
    ['bash -c "rm x"', 'rm x'],
    ['bash -o pipefail -c "rm x"', 'rm x'],
    ['bash', 'the shell runs its input'],
    ['bash -', 'the shell option - is not known'],
    ['bash -s', 'the shell option -s is not known'],
    ['bash -c "$x"', 'text is not part of the command'],
    ['bash $x', 'unclear'],
    ['bash -q -c ls', 'the shell option -q is not known'],
    ['bash --rcfile x -c ls', 'the shell option --rcfile is not known'],
    ["sh -c 'echo $(( 1 ))'", 'sh may parse it differently'],
    ["zsh -c '[[ a || b ]]'", 'zsh may parse it differently'],
  ])('is not taken as allowed: %s', async (command, reason) => {
    const verdict = await judge(command);
    expect(verdict).toMatchObject({ decision: 'ask', reason: expect.stringContaining(reason) });
  });

  it('is parsed as bash if bash runs it, and asked about if another shell does', async () => {
    const bash = judgeWith({ allow: rules('bash:*', 'echo:*') });
    expect(await bash("bash -c 'echo ${a:1}'")).toMatchObject({ decision: 'allow' });
    expect(await bash("sh -c 'echo ${a:1}'")).toMatchObject({ decision: 'ask' });
  });
});

describe('a deny rule', () => {
  const judge = judgeWith({ allow: rules('*'), deny: rules('rm:*', 'git push:*') });

  it.each([
    'rm x',
    '/bin/rm x',
    'ls; rm x',
    'env rm x',
    'bash -c "rm x"',
    'git push',
    'git -c a=b push origin',
    'git --no-pager push',
    'git-push origin',
    'xargs rm',
    'command rm x',
    'nice -n 5 rm x',
  ])('forbids %s', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'deny' });
  });

  it.each(['echo $x | sh', '$x y'])('asks about what may hide it: %s', async (command) => {
    expect((await judge(command)).decision).not.toBe('allow');
  });

  it.each(['ls rm', 'echo rm x', 'git status', 'git pushx', 'grep rm x', 'cat alarm', 'git log --grep push'])(
    'forbids no more than that: %s',
    async (command) => {
      expect((await judge(command)).decision).not.toBe('deny');
    },
  );
});

describe('syntax that only bash parses like hi', () => {
  const judge = judgeWith({ allow: rules('bash:*', 'sh:*', 'dash:*', 'zsh:*', 'ls:*', 'echo:*', 'cat:*', 'eval:*') });
  const scripts = ['a[0]=./x', 'a+=./x', 'ls {a,b}', 'ls ~+/x', 'cat 10<x', 'time ls', 'ls {n}<x', 'path=./x; ls'];

  it.each(scripts)('is asked about if another shell runs it: %s', async (script) => {
    const reason = expect.stringMatching(/sh may parse it differently|it sets path/);
    for (const program of ['sh', 'dash', 'zsh'])
      expect(await judge(`${program} -c '${script}'`)).toMatchObject({ decision: 'ask', reason });
    expect(await judge(`bash -c '${script}'`)).toMatchObject({ decision: 'allow' });
    expect(await judge(`sh -c 'bash -c "${script}"'`)).toMatchObject({ decision: 'allow' });
    expect(await judge(`sh -c 'eval "${script}"'`)).toMatchObject({ decision: 'ask', reason });
  });

  it('does not include what all shells parse alike', async () => {
    for (const script of ['a=1; ls $a', 'ls a{b', 'cat < x 2>&1', 'ls ~/x', 'ls "{a,b}"'])
      expect([script, (await judge(`sh -c '${script}'`)).decision]).toEqual([script, 'allow']);
  });
});
