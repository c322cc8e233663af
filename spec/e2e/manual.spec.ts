import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';

const PACKAGE = resolve(import.meta.dirname, '../..');
const FILE = join(PACKAGE, 'dist/hi.1');
const manual = (): string => readFileSync(FILE, 'utf8');

/** What stands in the page, as a reader sees it. */
const read = (): string => manual().replaceAll('\\-', '-').replaceAll('\\&', '').replaceAll('\\e', '\\');

let home: Home;
const help = async (...command: readonly string[]): Promise<string> =>
  (await runProgram(home, [...command, '--help'])).stdout;

/** What stands under a heading of a help text. */
const section = (text: string, heading: string): string =>
  (text.split(`\n${heading}:\n`)[1] ?? '').split('\n\n')[0] ?? '';

/** The commands a help text lists. */
const commandsOf = (text: string): readonly string[] =>
  [...section(text, 'Commands').matchAll(/^ {2}([\w-]+)/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help');

/** The options a help text lists, such as `-m, --model <name>`, each with the beginning of what it does. */
const optionsOf = (text: string): readonly (readonly [string, string])[] =>
  [...section(text, 'Options').matchAll(/^ {2}(-.*?) {2,}(\S+ \S+)/gm)].map(([, flags, words]) => [
    flags ?? '',
    words ?? '',
  ]);

beforeEach(() => {
  home = makeHome(null);
});

afterEach(() => home.remove());

describe('the manual page', () => {
  it('is named by package.json and comes with the build', () => {
    const { man } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
    // A list: npm installs the page only then.
    expect(man).toEqual(['dist/hi.1']);
    expect(existsSync(FILE)).toBe(true);
  });

  it('has every command and every option that --help has, in the same words', async () => {
    const whole = await help();
    const page = read();
    const commands = commandsOf(whole);
    expect(commands).toEqual(expect.arrayContaining(['chat', 'ask', 'reset', 'config', 'completion']));
    const told = [whole, ...(await Promise.all(commands.map((name) => help(name))))];
    for (const name of commands) expect(page).toMatch(new RegExp(`^\\.SS ${name}( |$)`, 'm'));
    for (const [flags, words] of told.flatMap(optionsOf).filter(([flags]) => flags !== '-h, --help'))
      expect(page).toContain(`.B ${flags}\n${words}`);
    for (const name of commandsOf(await help('config'))) expect(page).toMatch(new RegExp(`^\\.B ${name}( |$)`, 'm'));
  });

  it('tells every exit status', () => {
    for (const status of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(read()).toMatch(new RegExp(`^\\.B ${status}$`, 'm'));
  });

  it('is roff in which no line of text begins as a command', () => {
    expect(manual()).toMatch(/^\.TH HI 1 /);
    for (const line of manual()
      .split('\n')
      .filter((one) => /^[.']/.test(one)))
      expect(line).toMatch(/^\.(TH|SH|SS|TP|B|I)( |$)/);
    const groff = spawnSync('groff', ['-man', '-Tascii', '-ww', '-z', FILE]);
    expect(groff.error === undefined ? groff.stderr.toString() : '').toBe('');
  });
});

describe('--help', () => {
  it('of the program is the same whether it was made by the build or asked of a command', async () => {
    const made = await help();
    const asked = await runProgram(home, ['help']);
    expect(asked.stdout).toBe(made);
  });
});
