import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, runProgram } from '../support/program.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';
import { openVendorHouse, type VendorHouse } from '../support/vendor-house.js';

/** How each shell is started without the developer's own files, and how it takes the completion in. */
const SHELLS = {
  bash: { args: ['--norc', '--noprofile', '-i'], source: 'eval "$(hi completion bash)"' },
  zsh: { args: ['-f', '-i'], source: 'autoload -Uz compinit && compinit -u -D && eval "$(hi completion zsh)"' },
  fish: { args: ['--no-config', '-i'], source: 'hi completion fish | source' },
} as const;

type Shell = keyof typeof SHELLS;

/** Names that a server gives its models, to have them run when the line is. */
const HOSTILE = ['evil$(touch$IFS$1pwned)', 'worse`touch$IFS$1pwned`', 'third;>pwned', 'lines\n; touch pwned #\x1b[2J'];

let home: Home;
let house: VendorHouse;
let terminal: Terminal | undefined;

beforeEach(async () => {
  house = await openVendorHouse('openai', { models: ['gamma-large', 'gamma:8b', 'delta/mini', ...HOSTILE] });
  home = makeHome({ provider: 'openai', model: 'gamma-large', api_base: house.base });
  mkdirSync(join(home.config, 'skills'));
  writeFileSync(join(home.config, 'skills', 'gardening.md'), 'How to grow beans.\n');
  mkdirSync(join(home.config, 'commands'));
  writeFileSync(join(home.config, 'commands', 'review.md'), 'Review this.\n');
  mkdirSync(join(home.folder, 'bin'));
  symlinkSync(PROGRAM, join(home.folder, 'bin', 'hi'));
});

afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
  await house.close();
  home.remove();
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error === undefined;

async function open(shell: Shell): Promise<Terminal> {
  const env = { ...home.env, PATH: [join(home.folder, 'bin'), home.env.PATH].join(delimiter), PS1: '$ ', PROMPT: '$ ' };
  const opened = openTerminal(shell, SHELLS[shell].args, { env, cwd: home.work, columns: 120, rows: 40 });
  terminal = opened;
  opened.type(`${SHELLS[shell].source}; echo rea''dy${KEY.enter}`);
  await opened.until('ready', 20_000);
  return opened;
}

/** Each line with Tab at its end, and what the shell makes of it. */
const COMPLETED: readonly (readonly [string, string, string])[] = [
  ['a command', 'hi stat', 'hi status'],
  ['a subcommand', 'hi config sch', 'hi config schema'],
  ['an option', 'hi ask --eph', 'hi ask --ephemeral'],
  ['an option after a quoted text', 'hi ask "two words" --eph', 'hi ask "two words" --ephemeral'],
  ["an option's choice", 'hi ask -o stream', 'hi ask -o stream-json'],
  ['a strategy', 'hi compact --strategy tru', 'hi compact --strategy truncate'],
  ['a tool', 'hi ask --tools list', 'hi ask --tools list_files'],
  ['a provider', 'hi --provider anth', 'hi --provider anthropic'],
  ['a model from the vendor', 'hi -m gamma-', 'hi -m gamma-large'],
  ['a model with a colon', 'hi -m gamma:', 'hi -m gamma:8b'],
  ['a model after an equals sign', 'hi --model=del', 'hi --model=delta/mini'],
  ['a skill', 'hi skills gard', 'hi skills gardening'],
  ["a command of the user's own", 'hi ask --command rev', 'hi ask --command review'],
  ['a shell', 'hi completion z', 'hi completion zsh'],
  ['a file', 'hi ask -f note', 'hi ask -f notes.txt'],
];

describe.each(Object.keys(SHELLS) as Shell[])('completion in %s', (shell) => {
  it('is printed as a script that explains how to use it', async () => {
    const { stdout, status } = await runProgram(home, ['completion', shell]);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^# ${shell} completion for hi: put .*hi completion ${shell}`, 'm'));
  });

  // A developer may lack a shell; .ci/run installs all three.
  if (!isInstalled(shell)) {
    it(`cannot be tested here: there is no ${shell}`, () => expect(isInstalled(shell)).toBe(false));
    return;
  }

  it("passes the shell's own check", async () => {
    const { stdout } = await runProgram(home, ['completion', shell]);
    home.write('script', stdout);
    const { status, stderr } = spawnSync(shell, ['-n', join(home.work, 'script')]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  it('completes commands, options, their values, models, skills and files', async () => {
    home.write('notes.txt', '');
    const { type, until } = await open(shell);
    for (const [what, typed, wanted] of COMPLETED) {
      type(`${typed}${KEY.tab}`);
      await until((screen) => (screen.split('\n').at(-1) ?? '').trimEnd().endsWith(wanted), 10_000).catch((cause) => {
        throw new Error(`${what}: '${typed}' did not become '${wanted}'.`, { cause });
      });
      type(`${control('u')}${control('l')}`);
      await until((screen) => !screen.includes(typed));
    }
  });

  it('quotes what a server calls its models', async () => {
    const { type, until } = await open(shell);
    for (const start of ['evi', 'wor', 'thi', 'lin']) {
      type(`hi -m ${start}${KEY.tab}`);
      if (start !== 'lin') await until(new RegExp(`hi -m ${start}\\w+.*pwned`), 10_000);
      type(` --help${KEY.enter}`);
      type(`${control('l')}echo do''ne-${start}${KEY.enter}`);
      await until(`done-${start}`, 10_000);
      expect([start, existsSync(join(home.work, 'pwned'))]).toEqual([start, false]);
    }
  });

  it('lists the candidates', async () => {
    const { type, until } = await open(shell);
    type(`hi -m gamma${KEY.tab}${KEY.tab}`);
    await until(/gamma-large\s+gamma:8b|gamma:8b\s+gamma-large|-large\s+:8b/);
    type(`${control('u')}${control('l')}hi co${KEY.tab}${KEY.tab}`);
    await until((screen) => ['compact', 'completion', 'config'].every((name) => screen.includes(name)));
  });
});

describe('completion in zsh, from a file in a folder of its functions', () => {
  if (!isInstalled('zsh')) {
    it('cannot be tested here: there is no zsh', () => expect(isInstalled('zsh')).toBe(false));
    return;
  }

  it('works at the first Tab', async () => {
    const functions = join(home.folder, 'functions');
    mkdirSync(functions);
    writeFileSync(join(functions, '_hi'), (await runProgram(home, ['completion', 'zsh'])).stdout);
    const env = { ...home.env, PATH: [join(home.folder, 'bin'), home.env.PATH].join(delimiter), PS1: '$ ' };
    terminal = openTerminal('zsh', ['-f', '-i'], { env, cwd: home.work });
    terminal.type(`fpath=(${functions} $fpath); autoload -Uz compinit && compinit -u -D; echo rea''dy${KEY.enter}`);
    await terminal.until('ready', 20_000);
    terminal.type(`hi stat${KEY.tab}`);
    await terminal.until('hi status');
    terminal.type(`${control('u')}${control('l')}hi co${KEY.tab}`);
    await terminal.until(/\ncompact {5}compact the[^\n]*\ncompletion {2}print a[^\n]*\nconfig {6}set up/);
  });
});
