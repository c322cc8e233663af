import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type Attack, attempt, bash, type Outcome, pathWithoutSandbox, SECRET } from '../support/attack.js';

/** Whether this system lets bubblewrap make namespaces. Where it does not, nothing of what a rule allows runs. */
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;

/** A user without the rights of root, who may open every file. */
const NOBODY = 65534;
const AS_NOBODY =
  process.getuid?.() === 0
    ? {
        own: `chown -R ${NOBODY}:${NOBODY} ../..`,
        under: ['setpriv', '--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups'],
      }
    : { own: 'true', under: [] };

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

const WRITE = { rule: 'bash', write: true };

describe('a folder that can be entered but not listed', () => {
  const before = `chmod 311 closed; ${AS_NOBODY.own}`;
  const options = { under: AS_NOBODY.under };

  it('is empty in the sandbox, because whoever knows a name could open it', async () => {
    const { home, results, sent, later } = await attack({
      allow: [WRITE],
      files: {
        'closed/.env': SECRET,
        'x.sh': 'cat closed/.env; chmod 755 closed; cat closed/.env; echo a > closed/.envrc; echo end',
      },
      before,
      calls: [bash('bash x.sh')],
      options,
    });
    expect(sent).not.toContain(SECRET);
    if (WORKS) expect(results[0]).toContain('end\\n');
    later('chmod 755 closed');
    expect(existsSync(join(home.work, 'closed/.envrc'))).toBe(false);
  });

  it('is opened if a command left it, and what other programs would run in it is renamed', async () => {
    const { home, later } = await attack({
      allow: [WRITE],
      files: { 'x.sh': 'mkdir -p shut/again; touch shut/again/.envrc shut/.envrc; chmod 311 shut/again shut' },
      before: AS_NOBODY.own,
      calls: [bash('bash x.sh')],
      options,
    });
    later('chmod 755 shut shut/again');
    for (const path of ['shut/.envrc', 'shut/again/.envrc']) {
      expect(existsSync(join(home.work, path))).toBe(false);
      expect(existsSync(join(home.work, `${path}.set-aside-1`))).toBe(WORKS);
    }
  });
});

it('sets aside a repository that a command creates in the folder of packages, and lets it change none there', async () => {
  const made = ['x', '@s/y/lib'];
  const outcome = await attack({
    allow: [WRITE],
    files: {
      'x.sh': `for d in ${made.join(' ')}; do git init -q node_modules/$d; done
for d in old ${made.join(' ')}; do git -C node_modules/$d config core.fsmonitor 'touch ~/pwned; false'; done`,
    },
    before: 'git init -q node_modules/old',
    calls: [bash('bash x.sh')],
  });
  for (const path of ['old', ...made])
    outcome.later(`cd node_modules/${path} 2> /dev/null && git status > /dev/null 2>&1; true`);
  expect(outcome.pwned).toEqual([]);
  for (const path of made)
    expect(existsSync(join(outcome.home.work, 'node_modules', path, '.git.set-aside-1'))).toBe(WORKS);
});

describe('a working folder that the sandbox cannot protect', () => {
  it('lets the built-in list run as without a sandbox, and asks about the rest with the reason', async () => {
    const { results, stderr, pwned, sent, home } = await attack({
      allow: [WRITE],
      before: 'mkdir real; ln -s real .husky',
      calls: [bash('cat notes.txt | wc -l'), bash('touch pwned'), bash('cat .env; cat ~/.ssh/id_rsa')],
    });
    expect(results[0]).toContain('"stdout":"2\\n"');
    expect(results.slice(1).join()).not.toContain('exit_code');
    expect(pwned).toEqual([]);
    expect(sent).not.toContain(SECRET);
    if (!WORKS) return;
    const reason = `the sandbox cannot protect '${home.work}/.husky', which is a symbolic link; put the folder itself there`;
    expect(results[1]).toContain(`Not allowed: ${reason}`);
    expect(stderr).toContain(`Not run: bash touch pwned needs approval (${reason}`);
  });
});

describe.each([
  ['in the sandbox', {}],
  ['without a sandbox', { env: { PATH: BARE_PATH } }],
] as const)('credentials in the settings of git, %s', (where, options) => {
  const TOKEN = `${SECRET}0123`;
  const url = `https://me:${TOKEN}@127.0.0.1:9/a.git`;
  const before = `git init -q .; git remote add origin ${url}; git init -q ../other; git -C ../other remote add origin ${url}; git config --global url.${url}.insteadOf x:; git init -q sub; git -C sub config http.extraheader 'AUTHORIZATION: basic ${TOKEN}'`;

  it('is not read without approval in any form', async () => {
    const commands = [
      ...[
        'cat .git/config',
        'cat .git/config | tr a-zA-Z b-zaB-ZA',
        'grep -r url .',
        'grep -r url . | tr a-zA-Z b-zaB-ZA',
      ],
      ...[
        'git remote -v',
        'git remote -v | tr a-zA-Z b-zaB-ZA',
        'git config -l',
        'git config -l | rev',
        'cd sub && git config -l | rev',
      ],
      ...[
        'cat ../other/.git/config | rev',
        'rev ~/.gitconfig',
        'cut -c 1-30 .git/config; cut -c 31-90 .git/config',
        'cp .git/config /tmp/x; rev /tmp/x',
      ],
    ];
    const { results, sent } = await attack({
      allow: ['cat', 'tr', 'grep', 'git', 'rev', 'cut', 'cp'].map((name) => `bash(${name}:*)`),
      before,
      calls: [{ name: 'read_file', args: { path: '.git/config' } }, ...commands.map(bash)],
      ...(Object.keys(options).length > 0 ? { options } : {}),
    });
    const forms = [
      SECRET,
      TOKEN.replace(/[A-Z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 64) % 26) + 65)),
      [...TOKEN].reverse().join(''),
    ];
    const leaks = ['read_file', ...commands].filter((_, index) => forms.some((form) => results[index]?.includes(form)));
    expect([leaks, sent.includes(SECRET)]).toEqual([[], false]);
    expect(results[0]).toContain('Not allowed: it contains credentials');
    if (WORKS && where === 'in the sandbox') expect(results[5]).toContain('https://me:@127.0.0.1:9/a.git');
  });
});

it('masks credentials in a URL that an approved command prints', async () => {
  const { sent } = await attack({
    args: ['-y'],
    before: `git init -q .; git remote add origin https://me:${SECRET}0123@127.0.0.1:9/a.git`,
    calls: [bash('git remote -v'), bash('cat .git/config'), { name: 'read_file', args: { path: '.git/config' } }],
  });
  expect(sent).not.toContain(SECRET);
  expect(sent).toContain('https://me:[secret hidden by hi]@127.0.0.1:9/a.git');
});
