import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

describe('names with wildcards', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-names-'));
    for (const name of ['.env', 'plain.txt', 'server.key']) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'deep'));
    symlinkSync('../.env', join(folder, 'deep', 'link'));
    linkSync(join(folder, '.env'), join(folder, 'deep', 'twin'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const decide = async (command: string) =>
    (await judgeWith({ allow: bash('cat:*', 'grep:*') }, { root: folder, workingFolder: folder })(command)).decision;

  it.each([
    'cat p*',
    'cat *.txt',
    'cat x/*',
    'grep -fplain.txt -n x p*',
    "cat 'p'*",
    'cat $x',
    'cat "$x/$y"',
    'cat $x.txt',
  ])('are plain files: %s', async (command) => expect(await decide(command)).toBe('allow'));

  it.each([
    'cat *',
    'cat s*',
    'cat s?rver.[k]ey',
    'cat d*/*',
    'cat deep/l*',
    'cat server.{key,x}',
    'cat [[:alpha:]]erver.[!x]ey',
    'cat [^a]er*',
    'cat {deep/link,x}',
    'cat server.ke{y..y}',
    'cat {.en{v,w},x}',
    "cat 's'*",
    'cat "server".*',
    'cat server.ke["y"]',
    'cat \\.e*',
    "cat ''.e*",
    'cat "."{env,x}',
    'cat \\.{e,}nv',
    "cat {'deep/link',x}",
    'cat "deep"/l*',
    'cat $PWD/s*',
    'cat "$PWD"/*.key',
    'cat ~+/s*',
    'cat serve$x',
    'cat deep/twin',
    'cat deep/t*',
    'cat "$x".key',
    'cat deep/l$x',
    'cat "$x"env',
    'cat ~root/x',
    'cat /proc/$PPID/env*',
    'cat /pro?/$PPID/environ',
    'cat /{proc,x}/$PPID/e{nviron,x}',
    'grep -f.env x',
    'grep -nf.env x',
  ])('are private files: %s', async (command) => expect(await decide(command)).toBe('ask'));

  it('are compared quickly, however many stars there are', async () => {
    writeFileSync(join(folder, 'deep', 'a'.repeat(250)), '');
    expect(await decide(`cat deep/${'*a'.repeat(60)}b`)).toBe('allow');
  });

  it('are searched quickly, however long they are', async () => {
    const long = 60_000;
    const commands = [`cat ${'{'.repeat(long)}$x`, `cat x{${','.repeat(long)}}*`, `cat s${"''".repeat(long)}*`];
    for (const command of commands) expect([command.length, await decide(command)]).toEqual([command.length, 'ask']);
    expect(await decide(`cat .e${"''".repeat(long)}nv`)).toBe('ask');
    expect(await decide(`cat $PWD/.e${"''".repeat(long)}nv`)).toBe('ask');
    expect(await decide(`cat "$x ${'a'.repeat(long)}"`)).toBe('allow');
    const verdict = await judgeWith({ allow: ['bash'] })(`cat x{${','.repeat(long)}}*`);
    expect(verdict).toMatchObject({ reason: 'a word in it is too long to check', rule: null });
  });

  it('are expanded in every folder that the line changes to', async () => {
    const judge = judgeWith(
      { allow: bash('cat:*', 'cd:*'), deny: ['read_file(shut/*)'] },
      { root: folder, workingFolder: folder, ownPlaces: [join(folder, 'own')] },
    );
    const verdicts = [
      'cd deep && cat l*',
      'cd / && cat proc/1/environ',
      'cd /proc/$PPID; cat environ',
      'cd own/.. && cat own/config.json',
      'cd deep; cd ..; cat own/x',
      `${'cd a; cd b; '.repeat(20)}cat x`,
      'cd deep && cat ../shut/x',
      'cd deep && cat x',
    ].map(async (command) => (await judge(command)).decision);
    expect(await Promise.all(verdicts)).toEqual(['ask', 'ask', 'ask', 'ask', 'ask', 'ask', 'deny', 'allow']);
  });

  it('are too many to search', async () => {
    for (let name = 0; name <= 5000; name += 1) writeFileSync(join(folder, 'deep', `${name}`), '');
    expect(await decide('cat deep/5*')).toBe('ask');
  });
});

describe('a file that runs later', () => {
  const judge = judgeWith({ allow: bash('curl:*', 'git:*', 'find:*', 'cat:*', 'make:*', 'wget:*', 'history:*') });

  it.each([
    'curl -o .git/hooks/pre-commit http://x',
    'curl -o ~/.bashrc http://x',
    'wget -O ~/.Bashrc x',
    'git archive -o ~/.bashrc HEAD',
    'git format-patch -o .git/hooks HEAD',
    'git clone x ~/.config/autostart',
    'history -w ~/.bashrc',
  ])('is asked about, whatever program may write it: %s', async (command) =>
    expect(await judge(command)).toMatchObject({ decision: 'ask', rule: null }),
  );

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
    "git -c alias.z='!rm x' z",
    'awk \'BEGIN{system("rm x")}\'',
    ...[
      "sed '1e rm x' y",
      "sed 'ereboot' y",
      'sed s/a/b/e y',
      "sed -n '/x/{e rm y' -e '}'",
      'sed -f script y',
      "sed 's/a/rm x/ew out' y",
    ],
    ...[
      "sed --expression='1!erm x' y",
      'sed -e p -e ex',
      'sed -ie 1e x',
      "sed '1erm x' -e p y",
      'sed "$x" y',
      'sed -e "s/$x/y/" y',
      'sed p $x',
      "sed -i '' 1e y",
    ],
    ...[
      'sed --ex 1e y',
      'sed -n -- 1e y',
      'sed -l 5 1e y',
      'sed -l5 -zEe1e y',
      'find . -exec sed 1e {} +',
      'gsed 1e y',
      'sed -i../x/* p y',
    ],
    // Programs in a word, and on the input of a program that has a file too.
    ...[
      'ruby -e \'system "RM x".downcase\'',
      "perl -we 'system lc q,RM x,'",
      'php -r x',
      'node -p x',
      'node --eval=x',
      'deno eval x',
    ],
    ...[
      'echo x | ed y',
      'vim -es +x',
      'sqlite3 y',
      "sqlite3 y '.system x'",
      'git archive --remote=ext::x HEAD',
      'ssed 1e y',
    ],
    ...["ssh h 'r\\m x'", `docker exec c sh -c 'r""m x'`, `ssh h "r'm' x"`],
    "tar cf x --checkpoint=1 --checkpoint-action=exec='rm x' y",
    "mapfile -C 'rm x' -c1 < y",
    '. /dev/stdin <<< "rm x"',
    'bash /dev/fd/0 <<< "rm x"',
    // A script that the line gives a program as its input.
    "make -f - <<< $'all:\\n\\trm V'",
    'make -f - <<E\nall:\n\trm V\nE',
    "printf 'all: ; rm V' | make -f-",
    "printf 'all: ; rm V' | gmake --file=/dev/stdin",
    'dc <<< "!rm V"',
    // An alias, and what a push is made of.
    'git p',
    'git -C sub publish',
    'git send-pack origin main',
    'git-send-pack origin',
    'git http-push x',
    'git subtree push --prefix=a o b',
    'git lfs push origin',
    'git svn dcommit',
    'git -c alias.x=push x',
    'git --config-env=alias.x=V x',
    "git clone -u 'git push' x",
    'ssh host git push',
    'pnpm dlx git push',
    // Variables that tell a program what to run.
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x',
    "env GIT_CONFIG_PARAMETERS='x' git status",
    "PAGER='rm x' git log",
    'GIT_SSH_COMMAND=./x git fetch',
    'LD_PRELOAD=./x ls',
    'exec {PATH}> x; ls',
    'PATH=.:$PATH ls',
    "FOO='$(rm x)' ls",
    'NODE_OPTIONS=--require=./x node y.js',
    // The same program by another name.
    'cp /bin/rm y; ./y x',
    'ln -s /usr/bin/rm y',
    'crontab x',
  ])('asks about %s, to which it may apply, even with -y', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'ask', mayBeDenied: true, rule: null });
  });

  it.each([
    ['git fetch:*', 'git pull'],
    ['git commit:*', 'git cherry-pick x'],
    ['git checkout:*', 'git switch x'],
    ['npm exec:*', 'npm x a'],
  ])('%s asks about %s, which does the same', async (rule, command) => {
    const judge = judgeWith({ allow: ['bash'], deny: bash(rule) });
    expect(await judge(command)).toMatchObject({ decision: 'ask', mayBeDenied: true });
  });

  it('applies to a file that a variable names, and asks about no other', async () => {
    const files = judgeWith({ allow: ['bash'], deny: ['read_file(secret/*)'] });
    for (const command of ['cat "$FILE"', 'cat $FILE', 'sort -u ${1}', 'ls; grep x "$(cat list)"'])
      expect([command, await files(command)]).toMatchObject([command, { decision: 'ask', mayBeDenied: true }]);
    for (const command of ['cat notes', 'echo "$FILE"', 'ls $FILE'])
      expect([command, (await files(command)).decision]).toEqual([command, 'allow']);
    const programs = judgeWith({ allow: ['bash'], deny: ['bash(rm:*)'] });
    expect((await programs('cat "$FILE"')).decision).toBe('allow');
  });

  it('may apply to a file in an unknown folder, unless it is about commands', async () => {
    for (const [deny, mayBeDenied] of [
      [bash('rm:*'), false],
      [['read_file(t/*)'], true],
    ] as const) {
      const judge = judgeWith({ allow: bash('cd:*', 'echo:*'), deny });
      expect([deny, await judge('cd s && echo a > b')]).toMatchObject([deny, { decision: 'ask', mayBeDenied }]);
    }
  });

  it('applies to the files a command names or redirects to', async () => {
    const files = judgeWith({ allow: ['bash', 'write_file'], deny: ['read_file(secret/*)', 'write_file(src/*)'] });
    for (const command of [
      'cat secret/x',
      'grep -r a --include=b secret',
      'cat < secret/x',
      'echo a > src/x',
      'cp a src/x',
      'curl -d @secret/x y',
      'cp secret/x y',
    ])
      expect([command, (await files(command)).decision]).toEqual([command, 'deny']);
    expect(await files('cat src/x > out')).toMatchObject({ decision: 'allow' });
  });
});

describe('a deny rule for a line that runs a script', () => {
  const judge = judgeWith({ allow: ['bash', 'write_file'], deny: bash('rm:*') });

  it.each([
    'echo rm a > s.sh; . ./s.sh',
    "cat > s.sh <<'E'\nrm a\nE\nbash s.sh",
    'echo rm a >> d/s.sh && cd d && ./s.sh',
    'echo rm a | tee s.sh; sh s.sh',
    'cp other.sh s.sh; chmod +x s.sh; ./s.sh',
    'echo "import os" > x.py; python3 x.py',
    'echo rm a > s.sh; env sh s.sh',
    'cp $x $y; ./s.sh',
  ])('asks if the line writes that script: %s', async (command) => {
    expect(await judge(command)).toMatchObject({ decision: 'ask', mayBeDenied: true });
  });

  it.each(['make -j4', 'make | tail -5', 'cat <<E\na\nE\nmake', 'git commit -F - <<E\na\nE'])(
    'asks nothing where a program gets no input of the line that it may run: %s',
    async (command) => {
      expect(await judge(command)).toMatchObject({ decision: 'allow' });
    },
  );

  it.each(['./s.sh', 'chmod +x s.sh && ./s.sh', 'cat s.sh; bash s.sh', './s.sh > log', 'python3 x.py; echo a > y.py'])(
    'asks nothing where it does not: %s',
    async (command) => {
      expect(await judge(command)).toMatchObject({ decision: 'allow' });
    },
  );
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
    ['cat .e*', null],
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
