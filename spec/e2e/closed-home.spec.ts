import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type Attack, attempt, bash, type Outcome, pathWithoutSandbox, SECRET } from '../support/attack.js';
import { itWhere } from '../support/where.js';

/** Whether this system lets bubblewrap make namespaces. */
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;
const itConfined = itWhere(WORKS, 'bubblewrap cannot be used here');
const BARE_PATH = pathWithoutSandbox();
afterAll(() => rmSync(BARE_PATH, { recursive: true, force: true }));

const outcomes: Outcome[] = [];
afterEach(() => {
  for (const { home } of outcomes.splice(0)) home.remove();
});

async function attack(given: Attack): Promise<Outcome> {
  const outcome = await attempt(given);
  outcomes.push(outcome);
  return outcome;
}

const DENIED = 'DENIED417CONTENT';

describe('a redirection to a file that does not exist', () => {
  itConfined('opens that file alone, and nothing that is hidden or protected beside it', async () => {
    const files = {
      'secrets/a': DENIED,
      't.sh': `grep -r -e CANARY -e DENIED . ..; echo evil > .git/hooks/post-commit; echo evil > .envrc; echo evil > src.js; cat ~/.ssh/id_rsa; echo PWN >> ~/.bashrc`,
    };
    const { home, sent, pwned, results } = await attack({
      allow: ['bash(grep:*)', 'bash(sh t.sh)', 'write_file(*.txt)', 'write_file(~/*.txt)'],
      deny: ['read_file(secrets/**)'],
      files: { ...files, '../.bashrc': 'mine\n' },
      before: 'git init -q .',
      calls: [
        'grep -r CANARY . > one.txt; cat one.txt',
        'sh t.sh > two.txt',
        'cat two.txt',
        'grep -r CANARY .. > ~/three.txt',
        'false && echo a > four.txt',
        'true > five.txt',
      ].map(bash),
    });
    expect([sent.includes(SECRET), sent.includes(DENIED), pwned]).toEqual([false, false, []]);
    expect(results).toHaveLength(6);
    expect(['one.txt', 'two.txt', 'four.txt', 'five.txt'].map((name) => existsSync(join(home.work, name)))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(readFileSync(join(home.folder, '.bashrc'), 'utf8')).toBe('mine\n');
    for (const path of ['.git/hooks/post-commit', '.envrc', 'src.js'])
      expect([path, existsSync(join(home.work, path))]).toEqual([path, false]);
  });
});

describe('the home folder in the sandbox', () => {
  const NAMES = [
    'src/github.com/org/repo/.env',
    'work/org/team/svc/secrets.yaml',
    'go/src/x/prod.pem',
    'build/.env',
    '.cargo/credentials.toml',
    '.npm/x/id_rsa',
    '.config/heroku/x',
    '.wrangler/config/default.toml',
    'notes/plain.txt',
    '.near-credentials/x.json',
    'config/credentials.yml.enc',
  ];
  const many = `for n in $(seq 1000); do mkdir -p ~/many/$n; echo ${SECRET} > ~/many/$n/.env; done`;

  itConfined(
    'has none of the files of 1,000 folders, wherever they are, nor pipes that other programs read',
    async () => {
      const files = Object.fromEntries(NAMES.map((name) => [`../${name}`, SECRET]));
      const { sent, results } = await attack({
        allow: ['bash'],
        files,
        before: `${many}; mkfifo ~/many/1/pipe pipe; mkdir -p ~/.cargo/registry; echo crate > ~/.cargo/registry/x`,
        calls: [
          'grep -ra CANARY ..',
          '[ -p pipe ] && echo is a pipe; [ -e ~/many ] && echo there; true',
          'ls -A ~',
          'cat ~/.cargo/registry/x',
          'timeout 1 sh -c "echo x > pipe"; true',
        ].map(bash),
      });
      expect(sent).not.toContain(SECRET);
      expect(results[1]).toContain('"stdout":""');
      expect(results[2]).not.toMatch(/many|notes|\.ssh/);
      expect(results[3]).toContain('crate');
      expect(results[4]).toContain('Read-only');
    },
  );

  itConfined('opens what a rule names, with the private files in it hidden', async () => {
    const { results, sent } = await attack({
      allow: [{ rule: 'bash', read: ['~/notes', '~/.aws'] }],
      files: {
        '../notes/plain.txt': 'a plain note',
        '../notes/.env': SECRET,
        '../.aws/credentials': 'opened by name',
        '../other/x': SECRET,
      },
      calls: ['cat ~/notes/plain.txt; cd ~/notes; cat .e*', 'cd ~; cd .a*; cat c*', 'grep -ra CANARY ~'].map(bash),
    });
    expect(results[0]).toContain('a plain note');
    expect(results[1]).toContain('opened by name');
    expect(sent).not.toContain(SECRET);
  });

  itConfined('stays closed where a rule opens a folder around it', async () => {
    const { results, sent } = await attack({
      allow: [{ rule: 'bash', read: ['../..'] }],
      files: { '../plain.txt': SECRET, '../../elsewhere/x': 'opened' },
      calls: ['cat ../../elsewhere/x notes.txt', 'grep -ra CANARY ../..; ls -A ..'].map(bash),
    });
    expect(results[0]).toContain('openedone');
    expect(results[1]).not.toMatch(/plain|\.ssh/);
    expect(sent).not.toContain(SECRET);
  });

  itConfined('shows as the working folder only what does not begin with a dot', async () => {
    const files = Object.fromEntries(
      [...NAMES.filter((name) => !name.startsWith('notes')), '.yarnrc', '.cloudflared/x.json', '.mongorc.js'].map(
        (name) => [`../${name}`, SECRET],
      ),
    );
    const { results, sent } = await attack({
      allow: [{ rule: 'bash', write: true }],
      files: { ...files, '../notes/plain.txt': 'a plain note' },
      calls: ['cat notes/plain.txt', 'grep -ra CANARY .', 'ls -A', 'echo x > notes/new'].map(bash),
      atHome: true,
    });
    expect(results[0]).toContain('a plain note');
    // Nothing says that the name of this one is private.
    expect(sent.replaceAll(`config/credentials.yml.enc:${SECRET}`, '')).not.toContain(SECRET);
    expect(results[2]).not.toMatch(/\.ssh|\.cloudflared/);
    expect(results[3]).toMatch(/Read-only.*because it wanted to write to the disk\. -y allows that too/);
  });
});

describe('what a deny rule names', () => {
  const FILES = {
    '../Documents/tax.txt': DENIED,
    '../other/plan.txt': DENIED,
    'node_modules/p/dump.sql': DENIED,
    'conf/prod.txt': DENIED,
    'dist/keep.txt': 'keep',
    'data.lock': 'keep',
  };
  const deny = [
    'read_file(~/Documents/**)',
    'read_file(../other/**)',
    'read_file(*.sql)',
    'read_file(conf/**)',
    'write_file(dist/**)',
    'write_file(*.lock)',
    'write_file(.env)',
    'write_file(new.cfg)',
  ];
  const SCRIPT = `
for d in . .. ~ ~/Documents ../other conf; do cat $d/* $d/*/* $d/*/*/*; done
mv conf c2; cat c2/prod.txt; mv dist d2; mv ../other ../o2; cat ../o2/plan.txt; ln conf/prod.txt l; ln -s ../other s; cat s/plan.txt; cp -r conf c3; cat c3/*
python3 -c 'print(open("/proc/1/root/" + __import__("os").path.expanduser("~/Documents/tax.txt")).read())'
tar cf - . | tar xOf -; a=~; cat $a/Documents/tax.txt; umount conf; mount --bind / /tmp; unshare -r cat conf/prod.txt
echo evil > dist/keep.txt; rm -rf dist; echo evil > data.lock; mv x data.lock; cp notes.txt .env; echo evil > new.cfg; mkdir -p sub; echo evil > sub/new.lock; sort -o .env notes.txt; echo x > $PWD/.env`;

  const WAYS: readonly (readonly [string, readonly string[], Attack['allow']])[] = [
    ['with a rule that only reads', [], ['bash']],
    ['with a rule that writes and opens more', [], [{ rule: 'bash', write: true, read: ['~/Documents', '../other'] }]],
    ['with -y', ['-y'], []],
  ];
  for (const [what, args, allow = []] of WAYS)
    itConfined(`is neither read, changed nor moved, ${what}`, async () => {
      const { home, sent, results } = await attack({
        allow,
        deny,
        args,
        files: { ...FILES, 't.sh': SCRIPT },
        calls: [bash('sh t.sh'), bash('cat c2/* c3/* l s/*; git show HEAD:x')],
      });
      expect(results[0]).toContain('exit_code');
      expect(sent.replaceAll(JSON.stringify(SCRIPT), '')).not.toContain(DENIED);
      const read = (path: string) => readFileSync(join(home.work, path), 'utf8');
      expect([
        read('dist/keep.txt'),
        read('data.lock'),
        read('.env'),
        read('conf/prod.txt'),
        read('../other/plan.txt'),
      ]).toEqual(['keep', 'keep', `API=${SECRET}`, DENIED, DENIED]);
      for (const path of ['new.cfg', 'sub/new.lock', 'c2', 'd2'])
        expect([path, existsSync(join(home.work, path))]).toEqual([path, false]);
    });

  itConfined('lets -y do anything else, in the home folder too', async () => {
    const { home, results } = await attack({
      deny,
      args: ['-y'],
      files: FILES,
      calls: [bash('echo x > ~/made; echo y > made; cat dist/keep.txt')],
    });
    expect(results[0]).toContain('keep');
    expect([existsSync(join(home.folder, 'made')), existsSync(join(home.work, 'made'))]).toEqual([true, true]);
  });

  it('keeps -y from covering commands where there is no sandbox, which is said', async () => {
    const options = { env: { PATH: BARE_PATH } };
    const { home, sent, stderr } = await attack({
      deny,
      args: ['-y'],
      files: { ...FILES, 't.sh': SCRIPT },
      calls: [bash('sh t.sh'), bash('touch made'), bash('grep -r DENIED .')],
      options,
    });
    expect(stderr).toMatch(
      /touch made needs approval \('read_file\(~\/Documents\/\*\*\)' forbids files, and bubblewrap cannot be used here: it is not installed/,
    );
    expect([sent.replaceAll(JSON.stringify(SCRIPT), '').includes(DENIED), existsSync(join(home.work, 'made'))]).toEqual(
      [false, false],
    );
  });
});

describe('the surroundings of a sandboxed command', () => {
  itConfined('have no descriptor that hi was started with', async () => {
    const { results, pwned } = await attack({
      allow: ['bash'],
      files: {
        't.sh':
          'for n in /proc/self/fd/*; do readlink $n; done; cat /proc/self/fd/200/etc/hostname && echo opened; echo x > "/proc/self/fd/200$HOME/pwned"; echo end',
      },
      calls: [bash('sh t.sh')],
      options: { under: ['bash', '-c', 'exec 200</; exec "$@"', 'bash'] },
    });
    expect(results[0]).toContain('end');
    expect(results[0]).not.toContain('opened');
    expect(pwned).toEqual([]);
  });

  itConfined('do not move the session to a folder that the command only claims to be in', async () => {
    const { results } = await attack({
      allow: ['bash(sh t.sh)'],
      files: { 't.sh': 'echo /etc >&3; kill -9 $PPID' },
      calls: [bash('sh t.sh'), bash('ls'), bash('pwd')],
    });
    expect(results[0]).not.toContain('working_folder');
    expect(results[1]).toContain('notes.txt');
    expect(results[1]).not.toContain('passwd');
  });

  itConfined('cannot be kept running by a debugger on their first process', async () => {
    const begin = performance.now();
    const trace =
      'python3 -c "import ctypes; c=ctypes.CDLL(None, use_errno=True); print(c.ptrace(16, 1, 0, 0), c.ptrace(0x4206, 1, 0, 0))"';
    const { results } = await attack({
      allow: ['bash(sh t.sh)'],
      files: { 't.sh': trace },
      calls: [bash('sh t.sh')],
      tools: { timeout_ms: 60_000 },
    });
    expect(results[0]).toContain('-1 -1');
    expect(performance.now() - begin).toBeLessThan(60_000);
  });

  itConfined('protect what the settings of a repository above name in the working folder', async () => {
    const { home } = await attack({
      allow: [{ rule: 'bash', write: true }],
      files: {
        'hooks/post-commit': 'mine',
        'git.inc': 'mine',
        't.sh': 'echo evil > hooks/post-commit; echo evil > git.inc; mv hooks h2; rm -f git.inc; echo evil > later.inc',
      },
      before:
        'git -C .. init -q .; git -C .. config core.hooksPath work/hooks; git -C .. config include.path ../work/git.inc; git -C .. config --add include.path ../work/later.inc',
      calls: [bash('sh t.sh')],
    });
    expect(['hooks/post-commit', 'git.inc'].map((path) => readFileSync(join(home.work, path), 'utf8'))).toEqual([
      'mine',
      'mine',
    ]);
    expect(existsSync(join(home.work, 'later.inc'))).toBe(false);
  });
});
