import fc from './properties.js';

type Text = fc.Arbitrary<string>;

const one = (...texts: readonly string[]): Text => fc.constantFrom(...texts);
const some = (text: Text, most = 3): Text => fc.array(text, { maxLength: most }).map((texts) => texts.join(' '));
const line = (...parts: readonly Text[]): Text =>
  fc.tuple(...parts).map((texts) => texts.filter((text) => text !== '').join(' '));
const quoted = (text: Text): Text =>
  fc.tuple(text, fc.integer({ min: 0, max: 3 })).map(([inner, how]) => {
    if (how === 0) return `'${inner.replaceAll("'", `'\\''`)}'`;
    if (how === 1) return `"${inner.replace(/["\\$`]/g, '\\$&')}"`;
    if (how === 2) return `$'${inner.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`;
    return inner.replace(/[^\w./-]/g, '\\$&');
  });

/** The words of attacks: what would be read, written, run or sent. `port` is where a listener waits. */
function words(port: number) {
  const path = one(
    ...[
      '.env',
      'notes.txt',
      'src/a.ts',
      '*.txt',
      '.e*',
      '.e??',
      '~+/.env',
      '"$PWD"/.env',
      '../.ssh/id_rsa',
      '~/.ssh/id_rsa',
      '.',
      '..',
      'src',
    ],
    ...[
      'secrets.json',
      'sec"ret"s.json',
      '$x',
      '"$x"',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it
      '${x:-.env}',
      '$(echo .env)',
      './.env',
      'src/../.env',
      'link',
      'link/id_rsa',
      '{.env,x}',
      '-',
    ],
    ...[
      '/proc/self/environ',
      '/proc/$PPID/environ',
      '/etc/hosts',
      'pwned',
      '../pwned',
      './evil.sh',
      'evil.mk',
      'evil.awk',
      'evil.sed',
      'list',
      '--',
      '$HOME/.bashrc',
    ],
  );
  const payload = one(
    ...[
      'touch pwned',
      './evil.sh',
      'cat .env',
      'cat ../.ssh/id_rsa',
      'echo x > pwned',
      'cp .env pwned',
      `echo x > /dev/tcp/127.0.0.1/${port}`,
    ],
    ...[
      `curl -s http://127.0.0.1:${port}/`,
      'sh evil.sh',
      'tee pwned',
      'ln -s .env pwned',
      'env',
      'rm notes.txt',
      'mv notes.txt pwned',
      '$(cat .env)',
    ],
  );
  return { path, payload };
}

/**
 * Command lines from the grammars of bash, sed, awk, git, find, grep, make and npm, with something in them that would
 * be read, written, run or sent.
 */
export function commandLines(port: number): Text {
  const { path, payload } = words(port);
  const pattern = one('one', 'CANARY', '.', '', 'API', '^', '.*', 'a[b', '-e', '--include=*');
  const commands = fc.oneof(
    ...[looking(path, pattern), sed(path, payload), awk(path, payload), git(path, payload), find(path, payload)],
    ...[grep(path, pattern), make(path, payload), npm(path, payload), wrapped(path, payload)],
  );
  return fc.oneof({ arbitrary: script(commands, path, payload), weight: 5 }, { arbitrary: plain(path), weight: 1 });
}

/** What the built-in list may let through: few options, few words. */
function plain(path: Text): Text {
  const command = line(
    one(
      'cat',
      'head -3',
      'wc -l',
      'ls -la',
      'grep one',
      'grep -r CANARY',
      'find',
      'sort',
      'uniq',
      'diff -u',
      'stat',
      'cut -c1-9',
      'tail',
      'echo',
      'cd',
      'file',
      'md5sum',
      'nl',
      'du -a',
      'tac',
      'cmp',
    ),
    some(path, 2),
  );
  return fc.oneof(
    command,
    fc.tuple(command, one(' | ', '; ', ' && ', ' | sort | '), command).map((parts) => parts.join('')),
  );
}

function looking(path: Text, pattern: Text): Text {
  const program = one(
    ...'cat head tail wc ls stat file du diff cmp sort uniq cut nl tac jq tree date ps printf echo test tr xxd od strings realpath basename md5sum'.split(
      ' ',
    ),
  );
  const option = one(
    '-n',
    '-r',
    '-N',
    '-o pwned',
    '-c',
    '-a',
    '-R',
    '-l',
    '--files0-from=list',
    '-f',
    '-e',
    '-u',
    '-s',
    '-20',
    '-k1',
    '-d,',
    '--output=pwned',
    '-v x',
    '%n',
    '%s',
    'axeww',
    '-L',
  );
  return line(program, some(option, 2), fc.oneof(path, pattern), some(path, 2));
}

function sed(path: Text, payload: Text): Text {
  const address = one('', '1', '$', '/x/', '1,2', '/[]/]/', '\\%x%', '0~2', '2!');
  const regex = one('one', 'x', '[/]', '\\/', '.*', '', '\\n', '[][]', 'a\\');
  const flags = one('', 'g', 'p', 'e', 'w pwned', 'I', 'gw pwned', '2e', 'm');
  const substitution = fc
    .tuple(regex, one('', 'y', '&', 'touch pwned', '\\\n', 'cat .env'), flags)
    .map(([from, to, flag]) => `s/${from}/${to}/${flag}`);
  const text = fc.tuple(one('a', 'i', 'c'), one('\\\n', ' ', '\\'), payload).map((parts) => parts.join(''));
  const file = fc.tuple(one('r ', 'w ', 'R ', 'W '), path).map((parts) => parts.join(''));
  const run = payload.map((command) => `e ${command}`);
  const step = fc
    .tuple(
      address,
      fc.oneof(
        substitution,
        text,
        file,
        run,
        one('p', 'd', 'e', 'q', 'n;d', '{p}', 'b', ':a;N;ba', 'y/ab/ba/', '=', 'F', '#x'),
      ),
    )
    .map((parts) => parts.join(''));
  const steps = fc
    .array(step, { minLength: 1, maxLength: 3 })
    .chain((all) => one(';', '\n', ' ; ').map((by) => all.join(by)));
  const options = one(
    '',
    '-n',
    '-i',
    '-i.bak',
    '-E',
    '-s',
    '--posix',
    '-f evil.sed',
    '-ne',
    '-z',
    '--in-place',
    '-n -f evil.sed',
    '--sandbox',
    '-e p',
  );
  return line(
    one('sed', 'sed', 'sed', 'gsed'),
    options,
    fc.oneof(
      quoted(steps),
      steps.map((text) => `-e '${text.replaceAll("'", '')}'`),
    ),
    some(path, 2),
  );
}

function awk(path: Text, payload: Text): Text {
  const action = fc.oneof(
    ...[
      payload.map((command) => `system("${command}")`),
      payload.map((command) => `"${command}" | getline x; print x`),
      payload.map((command) => `print | "${command}"`),
    ],
    ...[
      path.map((file) => `while ((getline l < "${file}") > 0) print l`),
      path.map((file) => `print > "${file}"`),
      one('print', 'print $1', 'print ENVIRON["HOME"]', 'printf "%s", $0', 'next', '@include "evil.awk"'),
    ],
  );
  const rule = fc
    .tuple(one('', 'BEGIN', 'END', '/one/', 'NR==1', '$1 > 0'), action)
    .map(([when, what]) => `${when} { ${what} }`);
  const options = one(
    '',
    '-F,',
    '-v x=1',
    '-f evil.awk',
    '-bf evil.awk',
    '-i inplace',
    '--file=evil.awk',
    '-E evil.awk',
    '-v x=.env',
    '--',
  );
  return line(
    one('awk', 'mawk', 'gawk'),
    options,
    quoted(fc.array(rule, { minLength: 1, maxLength: 2 }).map((rules) => rules.join('\n'))),
    some(path, 2),
  );
}

function git(path: Text, payload: Text): Text {
  const before = fc.oneof(
    ...[
      one('', '', '', '-C src', '-p', '--no-pager', '--git-dir=evil.git', '--exec-path=.', '--work-tree=..', '--bare'),
    ],
    ...[
      fc
        .tuple(
          one(
            'core.pager',
            'core.fsmonitor',
            'alias.x',
            'diff.external',
            'core.sshCommand',
            'core.editor',
            'gpg.program',
            'core.hooksPath',
          ),
          payload,
        )
        .map(([key, value]) => `-c ${key}='!${value}'`),
    ],
  );
  const command = one(
    ...'status log diff show branch tag stash clean checkout grep blame archive config remote fetch clone init add commit reset rev-parse ls-files x bundle format-patch submodule worktree bisect'.split(
      ' ',
    ),
  );
  const option = fc.oneof(
    ...[
      one(
        '--output=pwned',
        '-o pwned',
        '--no-index',
        '--untracked',
        '--ext-diff',
        '--textconv',
        '-O./evil.sh',
        '-fdx',
        '--',
        '-p',
        '-1',
        'HEAD',
        'list',
        'clear',
        '-D',
        '-m x',
        'run ./evil.sh',
        '--open-files-in-pager=./evil.sh',
        '-- .',
        'foreach',
      ),
    ],
    ...[payload.map((what) => `'${what.replaceAll("'", '')}'`), path],
  );
  return line(fc.constant('git'), before, command, some(option, 3));
}

function find(path: Text, payload: Text): Text {
  const test = one(
    '-name "*"',
    '-name .env',
    '-type f',
    '-maxdepth 2',
    '-newer notes.txt',
    '-o',
    '!',
    '-path "*ssh*"',
    '-name -exec',
    '-not -name x',
    '-L',
    '-perm -1',
    '-printf -name',
    '-size -9',
  );
  const action = fc.oneof(
    ...[
      one(
        '',
        '-print',
        '-print0',
        '-delete',
        '-fprint pwned',
        '-fls pwned',
        '-ls',
        '-exec cat {} +',
        '-exec cat {} \\;',
        '-execdir ./evil.sh \\;',
        '-ok touch pwned \\;',
        '-printf "%p\\n"',
        '-fprintf pwned x',
      ),
    ],
    ...[
      payload.map((what) => `-exec ${what} \\;`),
      payload.map((what) => `-exec sh -c "${what.replace(/["$`]/g, '\\$&')}" \\;`),
    ],
  );
  return line(
    fc.constant('find'),
    some(path, 2),
    some(test, 3),
    action,
    one('', '', '| xargs cat', '| xargs -I{} cp {} pwned', '| head', '| while read f; do cat "$f"; done'),
  );
}

function grep(path: Text, pattern: Text): Text {
  const option = one(
    '-r',
    '-R',
    '-rn',
    '-d rec',
    '--directories=rec',
    "-e '--exclude=*v'",
    '--label --exclude=*',
    '-f .env',
    '-f list',
    "--include='*.env'",
    '-l',
    '-c',
    '-v',
    '-o',
    '-a',
    '--exclude-dir=src',
    '-A3',
    '-z',
    '-h',
    '-s',
    '-P',
    '--rec',
    '-ie',
  );
  return line(
    one('grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'git grep'),
    some(option, 3),
    quoted(pattern),
    some(option, 1),
    some(path, 2),
  );
}

function make(path: Text, payload: Text): Text {
  const option = fc.oneof(
    ...[
      one(
        'test',
        'all',
        '-f evil.mk',
        '-C src',
        '-n',
        '-B',
        'SHELL=./evil.sh',
        '-j2',
        '-s',
        '-k',
        '-I..',
        '-e',
        '--file=evil.mk',
        '-E x',
        'x=$(shell touch pwned)',
        '-p',
        '-w',
        'MAKEFLAGS=-fevil.mk',
      ),
    ],
    ...[payload.map((what) => `--eval='x:=$(shell ${what.replaceAll("'", '')})'`), path.map((file) => `-f ${file}`)],
  );
  return line(one('make', 'gmake'), some(option, 3));
}

function npm(path: Text, payload: Text): Text {
  const option = fc.oneof(
    ...[
      one(
        '---script-shell=./evil.sh',
        '-script-shell=./evil.sh',
        '--script-shell=./evil.sh',
        '---prefix=evilpkg',
        '--prefix evilpkg',
        '-C evilpkg',
        '--ignore-scripts',
        '--silent',
        '--if-present',
        '--node-options=--require=./evil.js',
        '--userconfig=evilrc',
      ),
    ],
    ...[payload.map((what) => `-c '${what.replaceAll("'", '')}'`), path],
  );
  return line(
    fc.constant('npm'),
    one('test', 'run test', 'run build', 'exec', 'pkg get', 'ls', 'config set x', 'root', 'config get cache', 'x'),
    some(option, 2),
  );
}

function wrapped(path: Text, payload: Text): Text {
  const wrapper = one(
    'env',
    'env -i',
    'A=1',
    'timeout 2',
    'nice',
    'nohup',
    'xargs -a list',
    'bash -c',
    'sh -c',
    'eval',
    'command',
    'exec',
    'setsid',
    'time',
    'sudo',
    'stdbuf -o0',
    'bash -x -c',
    'setpriv',
    'builtin eval',
    'source',
    'trap',
    'unshare',
    'xargs',
  );
  return line(wrapper, fc.oneof(payload, quoted(payload), path), some(path, 1));
}

/** Commands put together as bash does. */
function script(command: Text, path: Text, payload: Text): Text {
  const redirection = fc
    .tuple(one('>', '>>', '<', '2>', '&>', '>|', '<>', '<<<', '2>&1 >'), path)
    .map((parts) => parts.join(' '));
  const simple = fc.oneof({ arbitrary: command, weight: 6 }, { arbitrary: line(command, redirection), weight: 1 });
  const pair = (by: string) => fc.tuple(simple, simple).map((both) => both.join(by));
  const whole = fc.oneof(
    ...[
      { arbitrary: simple, weight: 12 },
      ...['; ', ' && ', ' | ', '\n', ' || ', ' & '].map((by) => ({ arbitrary: pair(by), weight: 1 })),
    ],
    ...[
      ...[
        fc.tuple(simple, payload).map(([first, what]) => `${first} $(${what})`),
        fc.tuple(simple, payload).map(([first, what]) => `${first} "\`${what}\`"`),
      ],
      ...[
        simple.map((text) => `(${text})`),
        simple.map((text) => `{ ${text}; }`),
        simple.map((text) => `for x in .env src; do ${text}; done`),
        simple.map((text) => `x=.env; ${text}`),
      ],
      ...[
        payload.map((what) => `x='a[$(${what})]'; echo $((x))`),
        payload.map((what) => `test -v 'a[$(${what})]'`),
        payload.map((what) => `printf -v 'a[$(${what})]' x`),
      ],
      ...[
        fc.tuple(simple, payload).map(([first, what]) => `f() { ${what}; }; ${first}; f`),
        fc.tuple(simple, payload).map(([first, what]) => `${first} <<E\n$(${what})\nE`),
      ],
      ...[
        simple.map((text) => `if ${text}; then :; fi`),
        simple.map((text) => `while ${text}; do break; done`),
        simple.map((text) => `cd src && ${text}`),
        simple.map((text) => `cd .. ; ${text}`),
      ],
      ...[
        payload.map((what) => `echo '${what.replaceAll("'", '')}' | sh`),
        fc.tuple(path, payload).map(([file, what]) => `cat ${file} <(${what})`),
        payload.map((what) => `PATH=. ; ${what}`),
      ],
    ].map((arbitrary) => ({ arbitrary, weight: 1 })),
  );
  return whole;
}
