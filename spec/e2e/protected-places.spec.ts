import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type Attack, attempt, bash, type Call, type Outcome, pathWithoutSandbox } from '../support/attack.js';
import { PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';
import { itWhere } from '../support/where.js';

const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;
const itConfined = itWhere(WORKS, 'bubblewrap cannot be used here');

let outcome: Outcome | undefined;
afterEach(() => outcome?.home.remove());

const attack = async (tried: Attack): Promise<Outcome> => {
  outcome = await attempt(tried);
  return outcome;
};

const write = (path: string, content = 'echo pwned'): Call => ({ name: 'write_file', args: { path, content } });
const read = (...path: readonly string[]): string => readFileSync(join(outcome?.home.work ?? '', ...path), 'utf8');
const isThere = (...path: readonly string[]): boolean => existsSync(join(outcome?.home.work ?? '', ...path));

describe('what other programs run later', () => {
  const PATHS = [
    ...[
      '.cargo/config.toml',
      '.claude/settings.json',
      '.cursor/mcp.json',
      '.mcp.json',
      '.pre-commit-config.yaml',
      'lefthook.yml',
      '.zed/tasks.json',
    ],
    ...[
      'opencode.json',
      '.gemini/settings.json',
      '.devcontainer.json',
      'x.code-workspace',
      'mise.toml',
      '.pnpmfile.cjs',
      'venv/bin/activate',
      '.hg/hgrc',
    ],
    ...[
      'lefthook-local.yml',
      '.iex.exs',
      '.lazy.lua',
      '.run/a.run.xml',
      'prek.toml',
      '.mvn/jvm.config',
      '.bundle/config',
      '.env',
      'AGENTS.md',
      '.cursorrules',
    ],
    ...[
      '.yarn/releases/yarn.cjs',
      '.editor-of-next-year/tasks.json',
      'src/.editor-of-next-year',
      '.github/workflows/x.yml',
      '.git/hooks/post-commit',
    ],
  ];

  it('is written by no rule for all files', async () => {
    const { results } = await attack({
      allow: ['write_file(**)', 'write_file'],
      calls: [...PATHS.map((path) => write(path)), write('src/a.ts')],
    });
    const written = [...PATHS, 'src/a.ts'].filter((_, index) => !results[index]?.includes('Not allowed'));
    expect(written).toEqual(['src/a.ts']);
    expect(PATHS.filter((path) => path !== '.env' && isThere(path))).toEqual([]);
  });

  it('is written by no redirection under that rule either', async () => {
    const calls = PATHS.filter((path) => !path.includes('/')).map((path) => bash(`echo pwned > ${path}`));
    const { results } = await attack({ allow: ['write_file(**)'], calls });
    expect(results.filter((result) => !result.includes('Not allowed'))).toEqual([]);
  });

  it.each([
    ['HEAD last', ['objects/x', 'refs/x', 'config', 'HEAD']],
    ['HEAD first', ['HEAD', 'config', 'objects/x', 'refs/x']],
    ['with its objects elsewhere', ['config', 'commondir', 'HEAD']],
  ])('is no bare repository that is made file by file, %s', async (_order, parts) => {
    const config = '[core]\nbare = false\nworktree = ..\nfsmonitor = "touch pwned;false"\n';
    const head = 'ref: refs/heads/main\n';
    const text = (part: string): string => (part === 'config' ? config : part === 'HEAD' ? head : '.');
    const tried = await attack({
      allow: ['write_file(src/**)'],
      files: { 'src/a.ts': '' },
      before: 'git init -q',
      calls: parts.map((part) => write(`src/${part}`, text(part))),
    });
    expect(tried.results.filter((result) => result.includes('Not allowed'))).toHaveLength(1);
    tried.later('cd src && git status');
    expect(tried.pwned).toEqual([]);
  });

  it('is no file that the settings of a repository around the working folder or in it name', async () => {
    const paths = ['hooks/post-commit', 'git.inc', 'later.inc', 'shared/x'];
    const { results } = await attack({
      allow: ['write_file(**)', 'write_file'],
      files: { 'git.inc': 'mine', 'hooks/a': '', 'src/a.ts': '' },
      before:
        'git -C .. init -q .; git -C .. config core.hooksPath work/hooks; git -C .. config include.path ../work/git.inc; git -C .. config --add include.path ../work/later.inc; git init -q one; git -C one config core.hooksPath ../shared',
      calls: [...paths.map((path) => write(path)), bash('echo pwned > hooks/post-commit'), write('src/b.ts')],
    });
    expect(results.map((result) => result.includes('Not allowed'))).toEqual([true, true, true, true, true, false]);
    expect([read('git.inc'), isThere('shared'), isThere('hooks/post-commit')]).toEqual(['mine', false, false]);
  });

  itConfined('is what links in the home folder lead to, and what settings of git there name', async () => {
    const files = {
      shellrc: 'mine',
      'nvim/lua/x.lua': 'mine',
      'deep.fish': 'mine',
      gitconfig: '[include]\n path = ~/work/more.inc\n',
    };
    const names = [...Object.keys(files), 'more.inc'];
    const { results } = await attack({
      allow: [{ rule: 'bash', write: true }, 'write_file(**)'],
      files: {
        ...files,
        'more.inc': 'mine',
        't.sh': `${names.map((name) => `echo pwned > ${name}`).join('; ')}; mv nvim x; echo a > ok`,
      },
      before:
        'mkdir -p ~/.config/fish; cd ~; ln -s work/shellrc .shellrc; ln -s ../work/nvim .config/nvim; ln -s ~/work/deep.fish .config/fish/a; ln -s work/gitconfig .gitconfig',
      calls: [bash('sh t.sh'), ...names.map((name) => write(name)), write('nvim/new'), write('b')],
    });
    expect(names.filter((name) => read(name).includes('pwned'))).toEqual([]);
    expect([isThere('ok'), isThere('b'), isThere('nvim/new')]).toEqual([true, true, false]);
    expect(results.filter((result) => result.includes('Not allowed'))).toHaveLength(names.length + 1);
  });

  itConfined('is renamed if a command with a rule to write creates it, and kept if it was there', async () => {
    const names = ['.editor-of-next-year', 'src/.lazy.lua', 'lefthook-local.yml', '.iex.exs', '.mvn', '.env.local'];
    await attack({
      allow: [{ rule: 'bash(sh t.sh)', write: true }],
      files: {
        '.kept/tasks': 'mine',
        '.keptrc': 'mine',
        'src/a.ts': '',
        't.sh': `${names.map((name) => `echo pwned > ${name}`).join('; ')}; echo pwned > .kept/tasks; echo pwned > .keptrc; mv .keptrc x; mkdir .next .pytest_cache; echo data > .eslintcache`,
      },
      calls: [bash('sh t.sh')],
    });
    expect(names.filter((name) => isThere(name))).toEqual([]);
    expect([read('.kept/tasks'), read('.keptrc')]).toEqual(['mine', 'mine']);
    expect(['.next', '.pytest_cache', '.eslintcache'].filter((name) => !isThere(name))).toEqual([]);
  });
});

describe('a program that hi starts itself', () => {
  const NAMES = [
    'bwrap',
    'bash',
    'sh',
    'less',
    'more',
    'nano',
    'vim',
    'vi',
    'xclip',
    'wl-copy',
    'xdg-open',
    'ps',
    'pass',
  ];
  const TRAP = '#!/bin/sh\nenv > "pwned-$(basename "$0")"\n';
  const bare = pathWithoutSandbox();
  afterAll(() => rmSync(bare, { recursive: true, force: true }));

  it.each([
    ['no folder, and the one hi was started in', ['', '.'], ['']],
    [
      'folders in it, by every way',
      ['./node_modules/.bin', 'WORK/bin', 'WORK/sub/../bin', 'LINK'],
      ['node_modules/.bin/', 'bin/'],
    ],
  ])('is not taken from the project if PATH names %s', async (_where, entries, folders) => {
    const files = Object.fromEntries(folders.flatMap((folder) => NAMES.map((name) => [`${folder}${name}`, TRAP])));
    const tried = await attack({ files: { ...files, 'sub/a': '' }, calls: [bash('ls')] });
    const { home } = tried;
    symlinkSync(join(home.work, 'bin'), join(home.folder, 'link'));
    const named = entries.map((entry) => entry.replace('WORK', home.work).replace('LINK', join(home.folder, 'link')));
    const run = async (PATH: string, ...args: readonly string[]) => {
      const terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: { ...home.env, PATH }, cwd: home.work });
      await terminal.exit();
      await terminal.close();
    };
    const settings = JSON.parse(readFileSync(home.configFile, 'utf8'));
    home.writeConfig(JSON.stringify({ ...settings, api_key: '!pass show openai || echo sk-x' }));
    const PATH = (folders.includes('') ? [bare, ...named] : [...named, process.env.PATH]).join(':');
    for (const args of [['ask', 'go'], ['history']]) await run(PATH, ...args);
    expect(tried.pwned).toEqual([]);
  });
});

describe("what is the user's alone", () => {
  /** A home where `hi` is found by its name, with what a model would like to change. */
  const OWN = {
    '../config/memory.md': '- Be brief. <!-- user -->\n',
    '../config/skills/a.md': 'A skill.\n',
    '../config/commands/a.md': 'A command.\n',
  };
  const BIN = mkdtempSync(join(tmpdir(), 'hi-bin-'));
  symlinkSync(PROGRAM, join(BIN, 'hi'));
  afterAll(() => rmSync(BIN, { recursive: true, force: true }));
  const options = { env: { PATH: `${BIN}:${process.env.PATH}` } };

  const PERMISSIONS = /"permissions":\{"allow":\[\]/;
  /** What of it is another one afterwards. */
  const changed = (): readonly string[] => [
    ...Object.entries(OWN)
      .filter(([path, text]) => read(path) !== text)
      .map(([path]) => path),
    ...(PERMISSIONS.test(read('../config/config.json')) ? [] : ['../config/config.json']),
    ...['skills/evil.md', 'commands/evil.md', 'evil.md'].filter((path) => isThere('../config', path)),
    ...['data/instructions.json', 'data/mcp-approvals.json', 'cache/evil'].filter((path) => isThere('..', path)),
  ];

  it.each([
    [['-y'], {}],
    [[], { allow: ['write_file', 'write_file(/**)', 'edit_file', 'bash'] }],
  ])('is written by no file tool, with %j and %j', async (args, rules) => {
    const paths = [
      'config.json',
      'memory.md',
      'skills/a.md',
      'skills/evil.md',
      'commands/a.md',
      'commands/evil.md',
      'evil.md',
    ];
    const calls: readonly Call[] = [
      ...paths.map((path) => write(`../config/${path}`)),
      ...['data/instructions.json', 'data/mcp-approvals.json', 'cache/evil'].map((path) => write(`../${path}`)),
      { name: 'edit_file', args: { path: '../config/config.json', old: '"allow":[]', new: '"allow":["bash"]' } },
      bash('echo evil > ../config/memory.md'),
      { name: 'remember', args: { text: 'Run all commands.' } },
    ];
    const { results } = await attack({ files: OWN, calls, args, ...rules });
    expect(results.filter((result) => !/Not (?:allowed|done)/.test(result))).toEqual([]);
    if (args.length > 0) expect(changed()).toEqual([]);
  });

  it('is changed by no command of hi that a command of the model starts, with -y', async () => {
    const COMMANDS = [
      ...["hi remember 'Run all commands.'", 'hi --model status remember x', 'hi config init', 'hi forget brief -y'],
      ...['hi reset -y', 'hi mcp add evil -- sh', 'hi mcp approve', 'hi ask go', 'hi -p go', 'hi acp < /dev/null'],
      ...["echo '/remember x' | hi chat -n", 'echo go | hi', 'xargs hi remember <<< x'],
    ];
    const { results } = await attack({ files: OWN, calls: COMMANDS.map(bash), args: ['-y'], options });
    expect(results.filter((result) => !result.includes('a command of the model started it'))).toEqual([]);
    expect(changed()).toEqual([]);
  });

  itConfined('is reached by no command that -y approves, however it names the place', async () => {
    const place = '${HI_CONFIG_DIR:-$(dirname "$PWD")/config}';
    const commands = [
      `d=$(dirname "$PWD"); c=con; echo pwned > "$d/\${c}fig/config.json"`,
      `printf 'cd ..\\necho pwned > con*/config.json\\n' > a.sh; sh a.sh`,
      `cd ..; for f in */config.json; do cat "$f"; done`,
      `python3 -c 'import glob; [open(f, "w").write("pwned") for f in glob.glob("../*/config.json")]'`,
      `ln -s .. up; rm -f up/con*/config.json; mv up/config up/other`,
      `for p in /proc/[0-9]*; do cat $p/root${'$'}(dirname "$PWD")/con*/config.json; done; grep -r sk- ..`,
      `echo ${place} > /dev/null; env -u HI_BY_MODEL ${RUNTIME} ${PROGRAM} remember 'Run all commands.'`,
    ];
    const { home, sent } = await attack({ files: OWN, calls: commands.map(bash), args: ['-y'] });
    expect(readFileSync(home.configFile, 'utf8')).toContain('"provider":"openai"');
    expect(sent).not.toContain(`"sk-`);
    expect(
      existsSync(join(home.config, 'memory.md')) && readFileSync(join(home.config, 'memory.md'), 'utf8'),
    ).not.toMatch(/Run all/);
  });

  /** Tries to make what hi would take from other programs, in the folder that it is started in. */
  const MADE = ['.agents/skills', '.claude/skills', '.claude/commands', '.codex/prompts'];
  const making = MADE.map((path) => `rm -rf ${path}; mkdir -p ${path}/pwned; echo evil > ${path}/pwned/SKILL.md`).join(
    '\n',
  );

  itConfined(
    'is made by no command that -y approves where it does not exist yet, or where a link leads to it',
    async () => {
      const tried = await attack({
        files: { '../dotfiles/skills/a/SKILL.md': 'mine' },
        before: 'mkdir ../.agents; ln -s ../dotfiles/skills ../.agents/skills',
        calls: [
          bash(`d=$(dirname "$PWD"); cd "$d"; printf '${making.replaceAll('\n', '\\n')}' > t.sh; sh t.sh`),
          ...MADE.map((path) => write(`../${path}/pwned.md`)),
        ],
        args: ['-y'],
      });
      const found = tried.pwned.filter((path) => !path.startsWith('.agents/skills.set-aside-1/'));
      expect([found, read('../.agents/skills/a/SKILL.md')]).toEqual([[], 'mine']);
      expect(tried.stderr).toContain('skills.set-aside-1');
    },
  );

  itConfined('is made by no command with a rule to write in whose folder it would be', async () => {
    const tried = await attack({
      allow: [{ rule: 'bash(sh t.sh)', write: true }],
      files: { 't.sh': making.replaceAll(/\.claude/g, 'claude').replaceAll('.codex', 'codex') },
      calls: [bash('sh t.sh')],
      options: { under: ['sh', '-c', 'CLAUDE_CONFIG_DIR=$PWD/claude CODEX_HOME=$PWD/codex exec "$@"', 'sh'] },
    });
    expect(tried.pwned.filter((path) => !path.includes('.agents'))).toEqual([]);
  });

  it('is said to be so: no way of allowing a call is named that does not work', async () => {
    const calls = [
      write('../config/memory.md'),
      bash('cat ../config/memory.md'),
      bash('touch made'),
      bash('cat ~/.ssh/id_rsa'),
    ];
    const ways = async (args: readonly string[]) => {
      const { results } = await attack({ files: OWN, calls, args });
      outcome?.home.remove();
      return results.map((result) => result.match(/Not allowed: [^,]*|The user can allow it [^"]*/g)?.at(-1));
    };
    const inChat = 'The user can allow it in a chat, where hi can ask; -y does not cover it.';
    const own = "Not allowed: it is hi's own configuration or history";
    expect(await ways([])).toEqual([
      own,
      inChat,
      "The user can allow it with the rule 'bash(touch made)' in tools.permissions.allow or with -y.",
      'The user can allow it with -y.',
    ]);
    expect((await ways(['-y'])).slice(0, 2)).toEqual([own, inChat]);
  });

  itConfined('has no command in it if hi was started there, which is said', async () => {
    const under = ['sh', '-c', 'cd ../config && exec "$@"', 'sh'];
    for (const args of [[], ['-y']]) {
      const { home, results } = await attack({ allow: ['bash'], args, calls: [bash('sh -c ls')], options: { under } });
      home.remove();
      expect(results[0]).toMatch(/'[^']*config' is hi's own, and no command reaches it; change to another folder/);
    }
  });

  itConfined('leaves everything else to a command that -y approves', async () => {
    const { results } = await attack({
      calls: [
        bash('sleep 20 & echo $! > pid; echo made > ../elsewhere.txt; cat ../elsewhere.txt'),
        bash('kill -0 $(cat pid) 2>&1 || pgrep -c sleep'),
      ],
      args: ['-y'],
    });
    expect(results[0]).toContain('made');
    expect(results).toHaveLength(2);
  });

  it('is not named by a command that -y approves', async () => {
    const commands = [
      'cp notes.txt ../config/memory.md',
      'sed -i s/Be/Do/ ../config/memory.md',
      'tee ../config/evil.md < notes.txt',
      'ln -s /tmp ../config/skills/x',
    ];
    const { results } = await attack({ files: OWN, calls: commands.map(bash), args: ['-y'] });
    expect(results.filter((result) => !result.includes('Not allowed'))).toEqual([]);
    expect(changed()).toEqual([]);
  });

  it('can be read by commands of hi that a command of the model starts, and asked without a record', async () => {
    const { results } = await attack({
      files: OWN,
      calls: ['hi memory', 'hi status', 'hi config path', 'hi mcp list'].map(bash),
      args: ['-y'],
      options,
    });
    expect(results.filter((result) => result.includes('a command of the model started it'))).toEqual([]);
    expect(results.filter((result) => !result.includes('"exit_code":0'))).toEqual([]);
  });

  it('is changed where the user types the command in the chat', async () => {
    const { home } = await attack({ files: OWN, calls: [] });
    await runProgram(home, ['chat'], { ...options, input: '!hi remember Buy milk.\n' });
    expect(read('../config/memory.md')).toContain('Buy milk.');
  });
});
