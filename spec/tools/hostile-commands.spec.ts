import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { attempt, bash, pathWithoutSandbox, SECRET } from '../support/attack.js';
import { judgeWith } from '../support/judging.js';
import fc, { cases } from '../support/properties.js';
import { bench, runnerOn } from '../support/tool-runner.js';

/** Rules a careless user might have: much is allowed, but neither `evil` nor any write. */
const ALLOWED = [
  'git status:*',
  'git log:*',
  'git:*',
  'ls:*',
  'cat:*',
  'echo:*',
  'printf:*',
  'env:*',
  'xargs:*',
  'find:*',
  'bash:*',
  'sh:*',
  'eval:*',
  'command:*',
  'exec:*',
  'timeout:*',
  'nice:*',
  'nohup:*',
  'sudo:*',
  'sort:*',
  'tar:*',
  'sed:*',
  'awk:*',
  'test:*',
  '[:*',
  'cd:*',
  'true:*',
  'source:*',
  '.:*',
  'export:*',
  'declare:*',
  'alias:*',
  'set:*',
  'trap:*',
  'read:*',
  'unset:*',
  'head:*',
  'time:*',
  'uniq:*',
  'gawk:*',
  'ps:*',
  'jobs:*',
  'compgen:*',
  'history:*',
  'npm test:*',
  'npm exec:*',
  'npm run build:*',
  'pnpm:*',
  'yarn:*',
  'cargo:*',
  'go:*',
  'kubectl:*',
  'helm:*',
  'apt:*',
  'apt-get:*',
  'wget:*',
  'ssh:*',
  'strace:*',
  'valgrind:*',
  'fakeroot:*',
  'taskset:*',
  'gosu:*',
  'dash:*',
  'zsh:*',
  'getopts:*',
  'mapfile:*',
].map((text) => `bash(${text})`);

/** How many of the allowed commands run at once. */
const AT_ONCE = 6;

/** What an attacker wants to run. */
const PAYLOADS = [
  'evil',
  'evil --now',
  '/bin/evil',
  './evil',
  "ev''il",
  '\\evil',
  '"evil"',
  "$'\\x65vil'",
  'curl x.test',
  'python3 -c 1',
];

/**
 * `disguises` hide a payload (`@`) behind something that is allowed; `picked` do more than the rules say without one.
 */
const { disguises, picked }: { readonly disguises: readonly string[]; readonly picked: readonly string[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'hostile-commands.json'), 'utf8'),
);

/** All together in `npm run test:attacks`; else a few in each disguise, by turns. */
const IS_WHOLE = process.env.HI_GENERATED_LINES !== undefined;
const BY_TURNS = IS_WHOLE ? PAYLOADS.length : 2;

/** Every so many of the lines that the rules cover run in the sandbox. */
const EVERY = IS_WHOLE ? 1 : 3;

const GENERATED = disguises.flatMap((disguise, at) =>
  Array.from({ length: BY_TURNS }, (_, turn) => PAYLOADS[(at * BY_TURNS + turn) % PAYLOADS.length] ?? '').map(
    (payload) => disguise.replaceAll('@', () => payload),
  ),
);

describe('the judge of commands', () => {
  it(`has at least 300 hostile commands to judge`, () => {
    expect(new Set([...GENERATED, ...picked]).size).toBeGreaterThan(300);
  });

  it('lets nothing run outside of the sandbox', async () => {
    const judge = judgeWith({ allow: ALLOWED });
    const alone = judgeWith({ allow: ALLOWED }, { hasSandbox: false });
    const outside: string[] = [];
    for (const command of [...GENERATED, ...picked]) {
      const verdict = await judge(command);
      const mayMore = verdict.decision === 'allow' && (verdict.grant?.write !== false || verdict.grant.network);
      if (mayMore || (await alone(command)).decision === 'allow') outside.push(command);
    }
    expect(outside).toEqual([]);
  });

  it('lets nothing run without approval if there are no rules', async () => {
    const judge = judgeWith({});
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), async (command) => {
        const { decision } = await judge(command);
        // A comment or blank line runs nothing.
        if (!/^[ \t]*(#.*)?$/.test(command)) expect(decision).not.toBe('allow');
      }),
      { numRuns: cases(150) },
    );
  });

  it('asks if no command can be recognised, even if bash would run nothing', async () => {
    const judge = judgeWith({ allow: ALLOWED });
    const nameless = ['!', '<file', '>/dev/null', 'x=1', '# a comment\n!', '((1))'];
    const verdicts = await Promise.all(nameless.map((command) => judge(command)));
    expect(verdicts.map(({ decision }) => decision)).toEqual(nameless.map(() => 'ask'));
  });

  it('never lets a word in another language change what a rule means', async () => {
    const judge = judgeWith({ allow: ['bash(git status:*)'] });
    const spaces = [
      '\u00a0',
      '\u1680',
      '\u2000',
      '\u2009',
      '\u202f',
      '\u205f',
      '\u3000',
      '\ufeff',
      '\u200b',
      '\u2028',
      '\u2029',
      '\u0085',
    ];
    const verdicts = await Promise.all(spaces.map((space) => judge(`git${space}status`)));
    expect(verdicts.map(({ decision }) => decision)).toEqual(spaces.map(() => 'ask'));
  });
});

describe('without a sandbox', () => {
  const PATH = pathWithoutSandbox();
  afterAll(() => rmSync(PATH, { recursive: true, force: true }));

  const evil = '#!/bin/sh\ntouch pwned ../pwned\n';
  const hostile = [...disguises.map((disguise) => disguise.replaceAll('@', () => './evil')), ...picked];

  // The judge above is asked about all of them: here each is called under one of the two, or under both.
  it.each([
    ['no rule', [], 0],
    ['the rules of a careless user', ALLOWED, 1],
  ])('none of these calls runs unasked, with %s', async (_rules, allow, turn) => {
    const calls = hostile.filter((_, at) => IS_WHOLE || at % 2 === turn);
    const { home, results, sent, pwned } = await attempt({
      allow,
      files: { ...{ evil, 'sh.sh': evil, x: evil }, f: '' },
      calls: calls.map(bash),
      options: { env: { PATH: `${PATH}:.` } },
    });
    const left = readdirSync(home.work);
    home.remove();
    expect(results.filter((result) => !result.includes('Not allowed'))).toEqual([]);
    expect([results.length, sent.includes(SECRET), pwned]).toEqual([calls.length, false, []]);
    expect(left.sort()).toEqual(['.env', 'evil', 'f', 'notes.txt', 'sh.sh', 'x']);
  });
});

describe('what rules allow, in the sandbox', () => {
  it('writes nothing, whatever else it does', async () => {
    const place = bench({ timeout: 5000 });
    const outside = join(dirname(place.folder), 'outside');
    mkdirSync(outside);
    const evil = `#!/bin/sh\nfor place in ${place.folder} ${outside} ~; do : > $place/canary; done\n`;
    for (const path of ['evil', 'sh.sh', 'x']) writeFileSync(join(place.folder, path), evil, { mode: 0o755 });
    const before = readdirSync(place.folder);
    const { one } = runnerOn(
      { ...place, context: { ...place.context, env: { ...process.env, PATH: `${process.env.PATH}:${place.folder}` } } },
      { permissions: { allow: ALLOWED, ask: [], deny: [] } },
    );
    const judge = judgeWith({ allow: ALLOWED });
    const wrong: string[] = [];
    const disguised = disguises.map((disguise) => disguise.replaceAll('@', () => './evil'));
    const allowed: string[] = [];
    for (const command of [...disguised, ...picked])
      if ((await judge(command)).decision === 'allow' && !/sleep|yes\b/.test(command)) allowed.push(command);
    expect(allowed.length).toBeGreaterThan(50);
    const tried = allowed.filter((_, at) => at % EVERY === 0);
    // Some at once: each mostly waits for its sandbox.
    while (tried.length > 0 && wrong.length === 0) {
      const some = tried.splice(0, AT_ONCE);
      await Promise.all(some.map((command) => one('bash', { command })));
      const now = [readdirSync(place.folder), readdirSync(outside)];
      if (JSON.stringify(now) !== JSON.stringify([before, []])) wrong.push(...some);
    }
    place.remove();
    expect(wrong).toEqual([]);
  }, 120_000);
});

describe('what runs without approval in a real bash', () => {
  const PIECES = [
    'git',
    'status',
    'ls',
    'echo',
    'cat',
    'evil',
    'evil',
    'env',
    'bash',
    'eval',
    'x',
    '-c',
    'x=evil',
    '$x',
    '"$x"',
    '$(',
    ')',
    '`',
    '"',
    "'",
    '\\',
    ';',
    '&&',
    '||',
    '|',
    '&',
    '\n',
    ' ',
    ' ',
    ' ',
    '{',
    '}',
    '(',
    '((',
    '))',
    '$((',
    '${x:-',
    '<<<',
    '<<E\n',
    '\nE\n',
    '#',
    '!',
    '[[',
    ']]',
    'if',
    'then',
    'fi',
    'for x in',
    'do',
    'done',
    'f()',
    '2>&1',
    "$'\\x65vil'",
    '{evil,x}',
    '*',
    './evil',
    '/',
    '[',
    ']',
    '?',
  ];
  let folder: string;
  let programs: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-hostile-'));
    programs = join(folder, 'bin');
    mkdirSync(programs);
    mkdirSync(join(folder, 'work'));
    for (const [name, action] of [['evil', `: > '${folder}/ran'`], ...['git', 'ls', 'cat'].map((name) => [name, ':'])])
      writeFileSync(join(programs, name ?? ''), `#!/bin/sh\n${action}\n`);
    writeFileSync(join(folder, 'work', 'evil'), `#!/bin/sh\n: > '${folder}/ran'\n`, { mode: 0o755 });
    writeFileSync(join(programs, 'bash'), '#!/bin/sh\nexec /bin/bash "$@"\n');
    writeFileSync(join(programs, 'env'), '#!/bin/sh\nexec /usr/bin/env "$@"\n');
    for (const name of readdirSync(programs)) chmodSync(join(programs, name), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is nothing but what the rules cover', async () => {
    const work = join(folder, 'work');
    const judge = judgeWith(
      { allow: ['git', 'ls', 'echo', 'cat', 'env', 'bash', 'eval'].map((name) => `bash(${name}:*)`) },
      { root: work, workingFolder: work, env: { PATH: programs } },
    );
    const command = fc
      .array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 12 })
      .map((pieces) => `echo ${pieces.join(' ')}`);
    const tight = fc
      .array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 10 })
      .map((pieces) => pieces.join(''));
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(command, tight), async (text) => {
        if ((await judge(text)).decision !== 'allow') return;
        ran += 1;
        spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', text], {
          cwd: work,
          env: { PATH: programs },
          timeout: 2000,
        });
        expect([text, existsSync(join(folder, 'ran')), readdirSync(work)]).toEqual([text, false, ['evil']]);
      }),
      { numRuns: cases(500) },
    );
    expect(ran).toBeGreaterThan(20);
  });
});
