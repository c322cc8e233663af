import { homedir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { judgeWith } from '../support/judging.js';

const bash = (...texts: readonly string[]) => texts.map((text) => `bash(${text})`);

describe('a rule for bash', () => {
  const judge = judgeWith({
    allow: bash('git status:*', 'npm test', 'ls:*', 'echo:*', 'env:*', 'timeout:*', 'find:*'),
  });

  it.each([
    'git status',
    'git status -s',
    "git 'status' --short",
    'git   status',
    'npm test',
    'git status && ls -la | ls',
    'echo $(git status) "`ls`"',
    'ls $x *.ts ~ {a,b}',
    'for name in a b; do echo $name; done',
    'if git status; then echo yes; else echo no; fi 2>&1 > /dev/null',
    'env git status',
    'timeout 5 npm test',
    'find . -name "*.ts" -exec ls -la {} +',
    'x=1; echo $x',
    'echo done # && rm -rf /',
    "echo '$(rm -rf /)' '> file'",
    "echo <<'END'\n$(rm -rf /)\nEND",
  ])('covers %s', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'allow' });
  });

  it.each([
    ['git', 'no rule covers this command'],
    ['git statusx', 'no rule covers this command'],
    ['npm test -- --watch', 'no rule covers this command'],
    ['git status && make all', 'no rule covers make all'],
    ['A=1 git status', 'no rule covers this command'],
    ['env A=1 git status', 'no rule covers A=1 git status'],
    ['echo a > b', 'no rule covers writing b'],
    ['echo a < /etc/passwd', 'no rule covers reading /etc/passwd'],
    ['ls "', 'it cannot be parsed (unterminated double quote): ls "'],
    ['$program', 'it is unclear which program runs: $program'],
    ['ls ~/.ssh', `it is a private place, where keys are kept: ${homedir()}/.ssh`],
  ])('does not cover %s, and says why', async (command, reason) => {
    expect(await judge(command)).toMatchObject({ decision: 'ask', reason });
  });

  it('covers a command that another one runs if it names both', async () => {
    const narrow = judgeWith({
      allow: bash('sudo apt update:*', 'bash scripts/build.sh:*', 'sed -i:*', 'xargs grep:*'),
    });
    const commands = ['sudo apt update -y', 'bash scripts/build.sh --fast', 'sed -i s/a/b/ x', 'xargs grep foo'];
    for (const command of commands) expect([command, (await narrow(command)).decision]).toEqual([command, 'allow']);
    for (const command of ['sudo apt install x', 'bash other.sh', 'xargs rm'])
      expect([command, (await narrow(command)).decision]).toEqual([command, 'ask']);
  });

  it('covers a whole command line by its exact text, redirections included', async () => {
    const exact = judgeWith({ allow: bash('cd src && make > log') });
    expect(await exact(' cd src && make > log\n')).toMatchObject({ decision: 'allow' });
    expect((await exact('cd src && make > log2')).decision).toBe('ask');
  });

  it('covers every command if it names the tool alone, but no private file', async () => {
    const all = judgeWith({ allow: ['bash'] });
    expect(await all('make > "$anything"')).toMatchObject({ decision: 'allow' });
    expect((await all('cat ~/.aws/credentials')).decision).toBe('ask');
  });

  it('lets no command change the file that it redirects to if it names the tool alone', async () => {
    const all = { allow: ['bash'] };
    for (const command of ['echo a > ~/notes', 'echo a >> inside', '{ make; } > "$HOME/x"'])
      expect(await judgeWith(all)(command)).toMatchObject({ decision: 'allow', grant: { write: false, files: [] } });
    const granted = judgeWith({ allow: ['bash', 'write_file(out/*)'] });
    expect(await granted('make > out/log')).toMatchObject({ decision: 'allow', grant: { files: ['out/log'] } });
    const exact = judgeWith({ allow: ['bash', 'bash(make > log)'] });
    expect(await exact('make > log')).toMatchObject({ decision: 'allow', grant: { files: ['log'] } });
    const bare = judgeWith(all, { hasSandbox: false });
    expect((await bare('echo a > ~/notes')).decision).toBe('ask');
    expect((await bare('cat notes.txt 2>/dev/null')).decision).toBe('allow');
  });

  it('lets a command do what the rules covering it allow, not what a rule allows that covers only a part', async () => {
    const exact = judgeWith({ allow: [...bash('timeout -z 5 make'), { rule: 'bash(timeout:*)', write: true }] });
    expect(await exact('timeout -z 5 make')).toMatchObject({ decision: 'allow', grant: { write: false } });
    const both = judgeWith({ allow: [...bash('make:*'), { rule: 'bash(make all:*)', write: true }] });
    expect(await both('make all')).toMatchObject({ decision: 'allow', grant: { write: true, network: false } });
  });

  it('covers what find runs for each file, and what printf prints', async () => {
    const judge = judgeWith({ allow: bash('find:*', 'ls:*', 'printf:*') });
    for (const command of ["find . -exec ls {} ';'", "printf '%s' 'a[b]' \"$HOME\""])
      expect([command, (await judge(command)).decision]).toEqual([command, 'allow']);
    for (const command of ["find . -exec make {} ';'", "printf -v 'a[$(make)]' b"])
      expect([command, (await judge(command)).decision]).toEqual([command, 'ask']);
  });

  it('covers no name that may be a private file if the folder is unknown', async () => {
    const look = judgeWith({ allow: bash('cat:*', 'cd:*', 'jq:*') });
    expect((await look('cd sub && cat .env')).decision).toBe('ask');
    const move = judgeWith({ allow: bash('echo:*', 'pushd:*', 'popd:*') });
    for (const command of ['pushd sub; echo a < x', 'popd; echo a < x'])
      expect([command, (await move(command)).decision]).toEqual([command, 'ask']);
    expect(await look('jq .key x.json')).toMatchObject({ decision: 'allow' });
  });

  it('covers a redirection if a rule for write_file does', async () => {
    const write = judgeWith({ allow: ['bash(echo:*)', 'write_file(out/*)'] });
    expect(await write('echo a > out/deep/x')).toMatchObject({ decision: 'allow' });
    for (const command of ['echo a > other', 'echo a > out/../x', 'cd / && echo a > out/x', 'echo a > "$out/x"'])
      expect([command, (await write(command)).decision]).toEqual([command, 'ask']);
  });
});

describe('a program that reads, and can do more', () => {
  const judge = judgeWith({
    allow: bash(
      ...['sed', 'awk', 'rg', 'fd', 'tree', 'less', 'uniq', 'date', 'file', 'yq', 'git', 'ps', 'curl', 'npm', 'go'].map(
        (it) => `${it}:*`,
      ),
      ...['sh', 'bash', 'strace', 'read', './run.sh'].map((it) => `${it}:*`),
    ),
  });

  it.each([
    "sed -n '1,5p' x",
    "sed 's/a/b/g; /x/,$!d' x",
    "sed -E -e 's|[a-z/]+|<&>|2' -e '/^$/d' x y",
    "sed -n '$!{$!N;};P;D' x",
    "sed ':a;N;$!ba;s/\\n/ /g' x",
    "sed '2i some text' write/we.w",
    "sed --quiet --expression='/re/{=;p;}' x",
    'rg --files -n pattern',
    'fd -e ts name',
    'tree -L 2 --noreport',
    'uniq -c x',
    'date -u +%s',
    'file -b x',
    'yq .a x.yml',
    'git push -u origin main',
    'git -C src log -3',
    'ps aux',
    'ps -eo pid,etime,cmd',
    'curl -sSL --connect-timeout 5 http://x',
    'npm install --global x',
    'npm run lint -- -c --config x',
    'go build ./...',
    'sh -c \'git status; rg "a$x" | uniq\'',
    'bash -c "[[ a || b ]] && git status"',
    'bash ./run.sh',
    'bash run.sh',
    'strace -f git status',
    'read -r line',
  ])('lets %s pass', async (command) => expect(await judge(command)).toMatchObject({ decision: 'allow' }));

  it.each([
    'sh -c "[[ a || b ]]"',
    'bash git',
    'strace -o x git status',
    'strace evil',
    'read http_proxy',
    'find . -delete',
  ])('asks for %s', async (command) => expect((await judge(command)).decision).toBe('ask'));
});

describe('a file that runs later', () => {
  const judge = judgeWith({ allow: bash('curl:*', 'git:*', 'find:*', 'cat:*', 'make:*', 'wget:*', 'history:*') });

  it.each([
    'cat .git/config ~/.bashrc',
    "find . -path ./.git -prune -o -name '*.ts'",
    'git add .husky/pre-commit',
    'git clone https://github.com/systemd/systemd',
    'make install',
  ])('may be read and named: %s', async (command) => expect(await judge(command)).toMatchObject({ decision: 'allow' }));
});

describe('a deny rule', () => {
  const judge = judgeWith({ allow: ['bash'], deny: bash('rm:*', 'git push:*', 'curl') });

  it.each([
    'rm x',
    '/bin/rm x',
    'r\\m x',
    'ls; rm x',
    'echo $(rm x)',
    'sudo -u root rm x',
    'env A=1 rm x',
    'find . -exec rm {} +',
    'ls | xargs rm',
    "bash -c 'rm x'",
    'f() { rm x; }',
    'git push --force',
    'git -c a=b push',
    'git --no-pager push',
    'git -C push push',
    'git --git-dir .git push',
    'git-push origin',
    '/usr/lib/git-core/git-push origin',
    'GIT push',
    'git.exe push',
    '/bin/RM x',
    'parallel rm ::: x',
    'curl',
  ])('forbids %s even if everything is allowed', async (command) => {
    expect((await judge(command)).decision).toBe('deny');
  });

  it.each([
    'rmdir x',
    'echo rm',
    'git commit -m push',
    'curl x',
    'ls rm',
    'sed -i s/a/b/ x',
    ...[
      "sed -n '/e/p;$!d' x",
      'sed -E -i.bak "s|[^/]*$|e x|" x',
      "sed -e '1a\\' -e 'e x' y",
      'sed p x"$x"',
      'sed --quiet -l 5 p x',
      'sed -ne p -- -e',
    ],
    "awk '$1 > 5 || $2' x",
    'sort -o x x',
    'git stash push',
    'git add -u',
    'git clone --depth 1 https://host/x',
    ...[
      'python3 x.py -c y',
      'node x.js',
      'node --test x.js',
      'ruby -w x.rb',
      'sqlite3 db "select 1"',
      "ssh h ls 'it s'",
    ],
    'PORT=3000 NODE_ENV=test npm start',
    'LC_ALL=C sort x',
    'which rm',
  ])('lets %s pass', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'allow' });
  });

  it.each([
    '$x y',
    'git $x',
    'eval "$x"',
    'bash -c "$x"',
    'cat x | sh',
    'ls "',
    "mapfile -C 'rm x' -c1 < y",
    '. /dev/stdin <<< "rm x"',
    'bash /dev/fd/0 <<< "rm x"',
    'exec {PATH}> x; ls',
    'crontab x',
  ])('asks about %s, to which it may apply, even with -y', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'ask', mayBeDenied: true, rule: null });
  });

  it('applies to the files a command names or redirects to', async () => {
    const files = judgeWith({ allow: ['bash', 'write_file'], deny: ['read_file(secret/*)', 'write_file(src/*)'] });
    for (const command of [
      'cat secret/x',
      'grep -r a --include=b secret',
      'cat < secret/x',
      'echo a > src/x',
      'curl -d @secret/x y',
      'cp secret/x y',
    ])
      expect([command, (await files(command)).decision]).toEqual([command, 'deny']);
    expect(await files('cat src/x > out')).toMatchObject({ decision: 'allow' });
  });
});

describe('an ask rule', () => {
  it('overrides an allow rule, and cannot be answered with "always"', async () => {
    const judge = judgeWith({ allow: ['bash'], ask: bash('git push:*') });
    expect(await judge('git fetch')).toMatchObject({ decision: 'allow' });
    expect(await judge('git fetch && git push')).toMatchObject({
      decision: 'ask',
      reason: "the rule 'bash(git push:*)' says to ask",
      rule: null,
    });
  });
});

describe('the rule that "always" would store', () => {
  const judge = judgeWith({ allow: bash('cd:*') });

  it.each([
    ['git status -s', 'bash(git status:*)'],
    ['ls -la src /etc', 'bash(ls:*)'],
    ['git log -3', 'bash(git log:*)'],
    ['git stash list', 'bash(git stash list:*)'],
    ['git stash', 'bash(git stash)'],
    ['git branch --list', 'bash(git branch --list)'],
    ['npm ls', 'bash(npm ls)'],
    ['git log --output=x', 'bash(git log --output=x)'],
    ['git branch', 'bash(git branch)'],
    ['git remote -v', 'bash(git remote -v)'],
    ['npm config get registry', 'bash(npm config get registry)'],
    ['docker compose ps', 'bash(docker compose ps)'],
    ['go env', 'bash(go env)'],
    ['prettier --check .', 'bash(prettier --check .)'],
    ['make test', 'bash(make test)'],
    ['./ls -la', 'bash(./ls -la)'],
    ['npm run build -- --fast', 'bash(npm run build -- --fast)'],
    ['cd src && cargo test', 'bash(cd src && cargo test)'],
    ['rm -rf build', 'bash(rm -rf build)'],
    ['python3 x.py', 'bash(python3 x.py)'],
    ['make > log', 'bash(make > log)'],
    ['npm run', 'bash(npm run)'],
    ['npm exec prettier x', 'bash(npm exec prettier x)'],
    ['pnpm dlx cowsay', 'bash(pnpm dlx cowsay)'],
    ['docker exec web ls', 'bash(docker exec web ls)'],
    ['git push origin main', 'bash(git push origin main)'],
    ['git reset --hard', 'bash(git reset --hard)'],
    ['kubectl delete pod x', 'bash(kubectl delete pod x)'],
    ['terraform apply', 'bash(terraform apply)'],
    ['a && b', 'bash(a && b)'],
    ['$x y', null],
    ['cat ~/.ssh/x', null],
    ['cat <<E\na\nE\nmake', null],
    [`touch ${'x'.repeat(300)}`, null],
  ])('for %s is %s', async (command, rule) => {
    expect(await judge(command)).toMatchObject({ decision: 'ask', rule });
  });

  it.each([
    ['git log -3', ['--output=x', '--outp=x', '--output x', '-p --ext-diff', '--ext']],
    ['git diff', ['--output=x', '--no-index --output=x a b']],
    ['git show', ['--output=x']],
    ['git blame a', ['--output=x a']],
    ['git shortlog', ['HEAD --output=x']],
    ['git rev-list HEAD', ['HEAD --output=x']],
    ['git stash list', ['--output=x']],
    ['git stash show', ['--output=x']],
    ['git reflog show', ['--output=x']],
    ['test -f a', ["-v 'a[$(date)]'", "-R 'a[$(date)]'"]],
  ])('for %s covers no argument that names what is written or run', async (command, added) => {
    const verdict = await judge(command);
    const rule = verdict.decision === 'ask' ? (verdict.rule ?? '') : '';
    const prefix = /^bash\((.*):\*\)$/.exec(rule)?.[1];
    expect(prefix).toBeDefined();
    const later = judgeWith({ allow: [rule] });
    for (const words of ['--oneline', '--extended-regexp', '--exclude=x', ...added]) {
      const decision = added.includes(words) ? 'ask' : 'allow';
      expect([words, (await later(`${prefix} ${words}`)).decision]).toEqual([words, decision]);
    }
  });

  it('lets the same command through the next time', async () => {
    for (const command of ['git status -s', 'rm -rf build', 'a && b > c', 'A=1 make', 'echo $((1 + 1)) | wc -l']) {
      const verdict = await judge(command);
      const rule = verdict.decision === 'ask' ? verdict.rule : null;
      expect([command, (await judgeWith({ allow: [...bash('cd:*'), rule ?? ''] })(command)).decision]).toEqual([
        command,
        'allow',
      ]);
    }
  });
});
