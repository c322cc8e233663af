import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtIn, findsSystemPrograms } from '../../lib/permission/built-in-commands.js';
import { readRules } from '../../lib/permission/rules/rules.js';
import { tools } from '../../lib/tools/index.js';
import { commandOf } from '../support/command-parts.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hi-forms-')));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'a'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RULES = { subjects: [], deny: [], ask: [], allow: [] };
const context = () => ({
  ...{ root: folder, workingFolder: folder, ownPlaces: [], freeFolders: [], hasSandbox: true, env: {} },
});
const looked = async (line: string, folders = [folder]) => builtIn(await commandOf(line), folders, RULES, context());

/**
 * What may be given to each program of the list: the letters of its options without and with a value, and of its
 * operands the kind.
 */
const FORMS: readonly (readonly [name: string, flags: string, valued: string, operands: string])[] = [
  ['basename', '', '', 'words'],
  ['cat', 'nbsAETvet', '', 'files'],
  ['cd', '', '', 'places'],
  ['cmp', 'bls', '', 'files'],
  ['cut', 's', 'dfcb', 'files'],
  ['date', 'u', '', 'none'],
  ['df', 'hkT', '', 'none'],
  ['diff', 'uqbwiBcy', '', 'files'],
  ['dirname', '', '', 'words'],
  ['du', 'shackm', 'd', 'places'],
  ['echo', '', '', 'words'],
  ...['egrep', 'fgrep', 'grep'].map((name) => [name, 'inHhlLcvwxoEFqsa', 'ABCm', 'files'] as const),
  ['false', '', '', 'none'],
  ['file', 'bi', '', 'files'],
  ['find', '', '', 'places'],
  ['head', 'qvz', 'nc', 'files'],
  ['id', 'ugn', '', 'none'],
  ['ls', 'aAlhrtS1RFdpisgomCUX', '', 'places'],
  ...['md5sum', 'sha1sum', 'sha256sum'].map((name) => [name, 'bt', '', 'files'] as const),
  ['nl', 'p', 'bw', 'files'],
  ['nproc', '', '', 'none'],
  ['pwd', 'LP', '', 'none'],
  ['realpath', 'esm', '', 'places'],
  ['sort', 'nrufbhVsdiM', 'kt', 'files'],
  ['stat', '', '', 'places'],
  ['tac', '', '', 'files'],
  ['tail', 'qvz', 'nc', 'files'],
  ['tr', '', '', 'words'],
  ['true', '', '', 'none'],
  ['uname', 'asrmno', '', 'none'],
  ['uniq', 'cdui', '', 'files'],
  ['wc', 'lwcmL', '', 'files'],
  ['whoami', '', '', 'none'],
];

describe.each(FORMS)('%s', (name, flags, valued, operands) => {
  it('is on the list with each of its options alone and together', async () => {
    const file = operands === 'none' ? '' : 'a';
    for (const option of [...flags].map((letter) => `-${letter}`))
      expect([option, await looked(`${name} ${option} ${file}`)]).toEqual([option, 'yes']);
    if (flags !== '') expect(await looked(`${name} -${flags} ${file}`)).toBe('yes');
    for (const letter of valued)
      for (const option of [`-${letter} 1`, `-${letter}1`, `-${flags}${letter} 1`])
        expect([option, await looked(`${name} ${option} ${file}`)]).toEqual([option, 'yes']);
    expect(await looked(`${name} ${file}`)).toBe('yes');
  });

  it('is not on the list with any other option', async () => {
    const known =
      operands === 'words'
        ? [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0']
        : [...flags, ...valued, 'r', ...(name === 'find' ? 'o' : ''), ...(valued.includes('n') ? '0' : '')];
    for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0')
      if (!known.includes(letter)) expect([letter, await looked(`${name} -${letter}`)]).toEqual([letter, 'no']);
    for (const option of ['--help', '-e=', `-${flags}?`].slice(operands === 'words' ? 3 : 0))
      expect([option, await looked(`${name} ${option}`)]).toEqual([option, 'no']);
    for (const letter of valued) {
      expect([letter, await looked(`${name} -${letter}`)]).toEqual([letter, 'no']);
      expect([letter, await looked(`${name} -${letter} $x`)]).toEqual([letter, 'no']);
    }
  });

  it('accepts its kind of operand and no other', async () => {
    expect(await looked(`${name} a`)).toBe(operands === 'none' ? 'no' : 'yes');
    expect(await looked(`${name} sub`)).toBe(operands === 'none' || operands === 'files' ? 'no' : 'yes');
    expect(await looked(`${name} .env`)).toBe(operands === 'words' ? 'yes' : 'no');
    expect(await looked(`${name} -`)).toBe(operands === 'none' ? 'no' : 'yes');
    const most = ['cd', 'uniq'].includes(name) || operands === 'none' ? 1 : 2;
    expect(await looked(`${name} a a`)).toBe(most === 2 ? 'yes' : 'no');
    expect(await looked(`${name} "$x"`)).toBe('no');
    expect(await looked(`A=1 ${name}`)).toBe('no');
    expect(await looked(`/bin/${name}`)).toBe('no');
  });
});

describe('a command on the list', () => {
  it.each([
    ...[
      '-name x',
      '-iname x',
      '-path x',
      '-type f',
      '-maxdepth 1',
      '-mindepth 1',
      '-size 1',
      '-mtime 1',
      '-mmin 1',
      '-empty',
    ],
    ...['-not -empty', '-empty -o -empty', '-print'],
  ])('may be find with %s', async (words) => expect(await looked(`find sub ${words}`)).toBe('yes'));

  it.each(['-delete', '-exec x', '-newer x', '-ls', '-fprint x', '-n', '-okdir x', '-regex x'])(
    'may not be find with %s',
    async (words) => expect(await looked(`find sub ${words}`)).toBe('no'),
  );

  it('accepts a number of lines, and where it searches folders a folder', async () => {
    for (const line of ['head -20 a', 'tail -1 a', 'grep -r x sub', 'grep -rn x sub', 'grep -nr x sub'])
      expect([line, await looked(line)]).toEqual([line, 'yes']);
    for (const line of [
      'cat -20 a',
      'head -2x a',
      'head x-20',
      'grep -n x sub',
      'diff -r sub sub',
      'grep -A r x sub',
      'grep -Ar x sub',
      'head -20 sub',
      'head -n1 sub',
      'head -n 1 sub',
    ])
      expect([line, await looked(line)]).toEqual([line, line === 'head x-20' ? 'yes' : 'no']);
  });

  it('is judged in every folder that it may run in, and read there like a rule says', async () => {
    expect(await looked('cat a', [folder, join(folder, 'sub')])).toBe('yes');
    expect(await looked('cat sub', [join(folder, 'sub'), folder])).toBe('no');
    expect(await looked('cat hosts', [folder, '/nowhere'])).toBe('no');
    expect(await looked('ls constructor')).toBe('yes');
    expect(await looked('cat gone')).toBe('yes');
    expect(await looked('constructor')).toBe('no');
    expect(await looked('cat "$(cat a)"')).toBe('no');
    expect(await looked("find . -exec cat a ';'")).toBe('no');
    expect(await looked('$x a')).toBe('no');
    expect(await looked(`cat ${'x'.repeat(5000)}`)).toBe('no');
  });

  it('is not on the list if a rule denies what it reads', async () => {
    const { deny } = readRules({ allow: [], ask: [], deny: ['read_file(a)'] }, tools, folder);
    expect(await builtIn(await commandOf('cat a'), [folder], { ...RULES, deny }, context())).toBe('no');
    expect(await builtIn(await commandOf('cat gone'), [folder], { ...RULES, deny }, context())).toBe('yes');
  });

  it('reads elsewhere if it names a file that a rule may allow', async () => {
    const subjects = [{ name: 'read_file', accessKind: 'read', rulesCoverKind: true }] as const;
    const rules = { ...RULES, subjects };
    const judged = async (line: string) => builtIn(await commandOf(line), [folder], rules, context());
    expect([await judged('cat /srv/x/y'), await judged('cat a /srv/x/y a'), await judged('cat /srv/x/y .env')]).toEqual(
      ['elsewhere', 'elsewhere', 'no'],
    );
  });

  it('is the program of the system if PATH contains no other folder', () => {
    const finds = (PATH?: string): boolean => findsSystemPrograms({ ...context(), env: { PATH } });
    expect([finds('/usr/bin:/bin'), finds('/usr/bin')]).toEqual([true, true]);
    expect([finds(), finds(''), finds('bin'), finds('/usr/bin:bin'), finds(`/bin:${folder}/x`), finds(folder)]).toEqual(
      Array(6).fill(false),
    );
  });
});
