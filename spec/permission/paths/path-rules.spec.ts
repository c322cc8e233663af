import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { coversPath, judgePath, type PathAccess } from '../../../lib/permission/paths/judge-path.js';
import { type Permissions, readRules } from '../../../lib/permission/rules/rules.js';
import { tools } from '../../../lib/tools/index.js';

let top: string;
let root: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'hi-path-rules-')));
  root = join(top, 'work');
  for (const path of ['work/src', 'other']) mkdirSync(join(top, path), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

const rulesOf = (permissions: Partial<Permissions>) =>
  readRules({ allow: [], ask: [], deny: [], ...permissions }, tools, root);

const judge = (
  access: PathAccess,
  permissions: Partial<Permissions> = {},
  more: { readonly tool?: string | null; readonly freeFolders?: readonly string[] } = {},
) =>
  judgePath(more.tool === undefined ? 'read_file' : more.tool, access, rulesOf(permissions), {
    ...{ root, workingFolder: root, ownPlaces: [join(top, 'own')], hasSandbox: true, env: {} },
    freeFolders: more.freeFolders ?? [],
  });

const read = (path: string): PathAccess => ({ kind: 'read', path });
const write = (path: string): PathAccess => ({ kind: 'write', path });

describe('a rule for paths', () => {
  it.each([
    ['read_file', '/anything', true],
    ['read_file(src:*)', '/root/src', true],
    ['read_file(src:*)', '/root/src/x/y', true],
    ['read_file(src:*)', '/root/srcs', false],
    ['read_file(src/*)', '/root/src', true],
    ['read_file(src/**)', '/root/src/x/y', true],
    ['read_file(src/**)', '/root/src', true],
    ['read_file(/*)', '/x', true],
    ['read_file(~/x)', `${homedir()}/x`, true],
    ['read_file(~/x)', '/root/~/x', false],
    ['read_file(~/*)', `${homedir()}/x/y`, true],
    ['read_file(~x)', '/root/~x', true],
    ['read_file(~x)', `${homedir()}x`, false],
    ['read_file(../x)', '/x', true],
    ['read_file(x)', '/root/x', true],
    ['read_file(x)', '/root/x/y', false],
    ['read_file(*.md)', '/root/a/b.md', true],
    ['read_file(*.md)', '/root/a.md/b', false],
    ['read_file(*.md)', '/other/b.md', false],
    ['read_file(./*.md)', '/root/b.md', true],
    ['read_file(./*.md)', '/root/a/b.md', false],
    ['read_file(~/*.md)', `${homedir()}/b.md`, true],
    ['read_file(a*/*)', '/root/ab/c', true],
    ['read_file(a*/*)', '/root/b/c', false],
    ['read_file(x/src/*/y)', '/root/x/src/a/y', true],
  ])('%s covers %s: %s', (rule, path, isCovered) => {
    const [read] = rulesOf({ allow: [rule] }).allow;
    expect(read !== undefined && coversPath(read, [path], '/root')).toBe(isCovered);
  });

  it('covers a file by any of its paths', () => {
    for (const scope of ['src:*', 'src/x', '*x', 'src/*x'])
      for (const paths of [
        ['/root/src/x', '/y'],
        ['/y', '/root/src/x'],
      ]) {
        const [rule] = rulesOf({ allow: [`read_file(${scope})`] }).allow;
        expect([scope, rule !== undefined && coversPath(rule, paths, '/root')]).toEqual([scope, true]);
      }
  });
});

describe('a path', () => {
  it('is asked about if a rule says so, whatever allows it', async () => {
    symlinkSync('x', join(root, 'src/link'));
    const permissions = { ask: ['read_file(src/x)'], allow: ['read_file'] };
    const reason = "the rule 'read_file(src/x)' says to ask";
    expect(await judge(read('src/x'), permissions)).toEqual({ decision: 'ask', reason, rule: null });
    expect(await judge(read('src/link'), permissions)).toEqual({
      decision: 'ask',
      reason: `${reason} (it leads to ${root}/src/x)`,
      rule: null,
    });
    expect(await judge(read('src/y'), permissions)).toEqual({ decision: 'allow' });
    expect(await judge(read('src/x'), { ...permissions, deny: ['read_file(src:*)'] })).toEqual({
      decision: 'deny',
      reason: "the rule 'read_file(src:*)' forbids it",
    });
  });

  it('is asked about for what it is before what a rule says', async () => {
    expect(await judge(read('.env'), { ask: ['read_file'] })).toEqual({
      decision: 'ask',
      reason: 'it is a private place, where keys are kept',
      rule: null,
    });
  });

  it('is asked about with the reason and the rule that would allow it', async () => {
    const to = (path: string) => join(top, 'other', path);
    symlinkSync(top, join(root, 'up'));
    const outside = 'it is outside the working folder';
    expect(await judge(read(to('x')))).toEqual({ decision: 'ask', reason: outside, rule: `read_file(${to('*')})` });
    expect(await judge(read('up/other/x'))).toEqual({
      decision: 'ask',
      reason: `${outside} (it leads to ${to('x')})`,
      rule: `read_file(${to('*')})`,
    });
    const change = 'no rule allows this change';
    expect(await judge(write('src/x'))).toEqual({
      decision: 'ask',
      reason: change,
      rule: `write_file(${root}/src/*)`,
    });
    expect(await judge(write('up/work/src/x'))).toMatchObject({ reason: `${change} (it leads to ${root}/src/x)` });
    expect(await judge(read(to('x')), {}, { tool: null })).toMatchObject({ rule: `read_file(${to('*')})` });
    expect(await judge(read(to('x')), {}, { tool: 'list_files' })).toMatchObject({ rule: `list_files(${to('*')})` });
  });

  it.each([
    ['/x', 'read_file(/x)'],
    ['/opt/hi-x/y', 'read_file(/opt/hi-x/*)'],
    ['~/hi-x/y/z', 'read_file(~/hi-x/y/*)'],
    ['~/hi-x', 'read_file(~/hi-x)'],
    ['/opt/hi:*', null],
    ['/opt/hi-?/x', null],
  ])('is asked about with a rule no wider than its folder: %s', async (path, rule) => {
    expect(await judge(read(path))).toMatchObject({ decision: 'ask', rule });
  });

  it('is asked about with a rule for itself if the folder contains the working folder', async () => {
    expect(await judge(read(join(top, 'x')))).toMatchObject({ rule: `read_file(${join(top, 'x')})` });
    expect(await judge({ ...read(top), isFolder: true })).toMatchObject({ rule: `read_file(${top})` });
    expect(await judge({ ...read(join(top, 'other')), isFolder: true })).toMatchObject({
      rule: `read_file(${join(top, 'other')}/*)`,
    });
  });

  it('is asked about without a rule if it cannot be resolved', async () => {
    symlinkSync('loop', join(root, 'loop'));
    expect(await judge(read('loop'), { allow: ['read_file(loop)'] })).toMatchObject({ decision: 'ask', rule: null });
    expect(await judge(read('loop'), { deny: ['read_file(loop)'] })).toMatchObject({ decision: 'deny' });
  });

  it('is free to read in folders that are, where it leads there too', async () => {
    writeFileSync(join(top, 'secret'), '');
    symlinkSync(join(top, 'secret'), join(top, 'other/link'));
    symlinkSync('other', join(top, 'alias'));
    symlinkSync('loop', join(top, 'loop'));
    const freeFolders = [join(top, 'loop'), join(top, 'gone'), join(top, 'alias')];
    const path = join(top, 'other/x');
    expect(await judge(read(path), {}, { freeFolders })).toEqual({ decision: 'allow' });
    expect(await judge(write(path), {}, { freeFolders })).toMatchObject({ decision: 'ask' });
    expect(await judge(read(join(top, 'other/link')), {}, { freeFolders })).toMatchObject({ decision: 'ask' });
    expect(await judge(read(path), { ask: ['read_file(/*)'] }, { freeFolders })).toMatchObject({ decision: 'ask' });
    expect(await judge(read(join(top, 'own/x')), {}, { freeFolders: [join(top, 'own')] })).toEqual({
      decision: 'allow',
    });
    expect(await judge(read(join(top, 'own/x')))).toMatchObject({ decision: 'ask', rule: null });
  });
});
