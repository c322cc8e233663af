import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { judgePath } from '../../../lib/permission/paths/judge-path.js';
import { isInside, locate } from '../../../lib/permission/paths/resolve-path.js';
import { type Permissions, readRules } from '../../../lib/permission/rules/rules.js';
import { tools } from '../../../lib/tools/index.js';
import { type Bench, bench } from '../../support/tool-runner.js';

let place: { -readonly [Key in keyof Bench]: Bench[Key] };
beforeEach(() => {
  place = bench();
  mkdirSync(join(place.folder, 'src'));
});
afterEach(() => place.remove());

function judge(tool: string, path: string, permissions: Partial<Permissions> = {}) {
  const rules = readRules({ allow: [], ask: [], deny: [], ...permissions }, tools, place.folder);
  const config = join(dirname(place.folder), 'config');
  const around = { ownPlaces: [config], freeFolders: [place.context.spillFolder, join(config, 'skills')] };
  const kind = tool === 'write_file' || tool === 'edit_file' ? 'write' : 'read';
  return judgePath(tool, { kind, path, isFolder: tool === 'list_files' }, rules, {
    ...place.context,
    root: place.context.cwd.start,
    workingFolder: place.context.cwd.now,
    ...around,
    hasSandbox: true,
  });
}

describe('a path', () => {
  it('may be read inside the working folder', async () => {
    for (const path of ['x', 'src/deep/x', '.', './src/../x', place.folder])
      expect([path, await judge('read_file', path)]).toEqual([path, { decision: 'allow' }]);
  });

  it('is asked about outside of it, however it is written', async () => {
    symlinkSync('/etc', join(place.folder, 'link'));
    symlinkSync('/nowhere/yet', join(place.folder, 'dangling'));
    symlinkSync('loop', join(place.folder, 'loop'));
    for (const path of [
      '/etc/hosts',
      '../x',
      'src/../../x',
      'link/hosts',
      'link/../etc/hosts',
      'dangling',
      'loop',
      '~',
      '/',
    ])
      expect([path, (await judge('read_file', path)).decision]).toEqual([path, 'ask']);
  });

  it('is judged relative to the folder where the session began, not where a command went', async () => {
    place.context.cwd.now = '/etc';
    expect((await judge('read_file', 'hosts')).decision).toBe('ask');
    expect(await judge('read_file', join(place.folder, 'x'))).toEqual({ decision: 'allow' });
  });

  it('is asked about before it is written, and a rule for write_file covers edit_file too', async () => {
    expect(await judge('write_file', 'src/x')).toMatchObject({
      decision: 'ask',
      rule: `write_file(${place.folder}/src/*)`,
    });
    expect(await judge('edit_file', 'x')).toMatchObject({ decision: 'ask', rule: `write_file(${place.folder}/x)` });
    expect(await judge('edit_file', 'src/a/x', { allow: ['write_file(src/*)'] })).toEqual({ decision: 'allow' });
  });

  it('is covered by a rule only at its real location', async () => {
    symlinkSync('/etc', join(place.folder, 'src', 'link'));
    const allow = ['write_file(src/*)'];
    for (const path of ['src/link/x', 'src/../x', 'src/link/../../tmp/x'])
      expect([path, (await judge('write_file', path, { allow })).decision]).toEqual([path, 'ask']);
  });

  it('is denied under each of its names', async () => {
    symlinkSync('src', join(place.folder, 'alias'));
    for (const path of ['src/x', 'alias/x', './alias/../src/x', join(place.folder, 'src/x')])
      expect([
        path,
        (await judge('write_file', path, { allow: ['write_file'], deny: ['write_file(src/*)'] })).decision,
      ]).toEqual([path, 'deny']);
    expect((await judge('write_file', 'alias/x', { deny: ['write_file(alias/*)'] })).decision).toBe('deny');
  });

  it.each([
    ['write_file', ['docs/a/b.md', 'docs/a.md'], []],
    ['write_file(docs/*)', ['docs/a/b.md', 'docs/a.md'], ['src/a.md', 'docsx/a']],
    ['write_file(docs:*)', ['docs/a/b.md', 'docs/a.md'], ['src/a.md', 'docsx/a']],
    ['write_file(docs/a.md)', ['docs/a.md'], ['docs/a.md2', 'a.md']],
    ['write_file(*.md)', ['a.md', 'docs/a.md'], ['a.txt', '/tmp/a.md']],
    ['write_file(docs/*.md)', ['docs/a.md'], ['docs/a/b.md', 'a.md']],
    ['write_file(docs/**/*.md)', ['docs/a.md', 'docs/a/b.md'], ['a.md']],
    ['write_file(/tmp/out/*)', ['/tmp/out/x'], ['/tmp/outx', '/tmp/x']],
  ])('is covered by %s as written', async (rule, covered, others) => {
    for (const path of covered)
      expect([path, await judge('write_file', path, { allow: [rule] })]).toEqual([path, { decision: 'allow' }]);
    for (const path of others)
      expect([path, (await judge('write_file', path, { allow: [rule] })).decision]).toEqual([path, 'ask']);
  });

  it.each([
    '~/.ssh/config',
    '~/.aws/credentials',
    '.env',
    '.env.production',
    'certs/server.key',
    'id_ed25519',
    '/proc/self/environ',
    '/etc/shadow',
    '~/.netrc',
    '~/.SSH/config',
    '~/.cargo/credentials.toml',
    '~/.vault-token',
    '~/.config/google-chrome/Default/Cookies',
    'deploy/terraform.tfstate',
  ])('%s is private: asked about whatever a rule allows, and never stored with "always"', async (path) => {
    const allow = ['read_file', 'write_file'];
    expect(await judge('read_file', path, { allow })).toMatchObject({ decision: 'ask', rule: null });
    expect(await judge('write_file', path, { allow })).toMatchObject({ decision: 'ask', rule: null });
  });

  it.each(['../config/config.json', '../config/memory.md', '../config/skills/x/SKILL.md', '../config/new/deep'])(
    'of hi itself is asked about to read, and never written: %s',
    async (path) => {
      const allow = ['read_file', 'write_file'];
      expect((await judge('write_file', path, { allow })).decision).toBe('deny');
      if (!path.includes('skills'))
        expect(await judge('read_file', path, { allow })).toMatchObject({ decision: 'ask', rule: null });
    },
  );

  it('is private too if a link with an ordinary name leads there', async () => {
    writeFileSync(join(place.folder, '.env'), 'A=1');
    symlinkSync('.env', join(place.folder, 'notes.txt'));
    expect(await judge('read_file', 'notes.txt')).toEqual({
      decision: 'ask',
      reason: `it is a private place, where keys are kept (it leads to ${place.folder}/.env)`,
      rule: null,
    });
  });

  it('is private too if it is the same file as a private one, under another name', async () => {
    const config = join(dirname(place.folder), 'config');
    mkdirSync(join(config, 'deep'), { recursive: true });
    writeFileSync(join(config, 'deep', 'config.json'), '{}');
    writeFileSync(join(place.folder, '.env'), 'A=1');
    writeFileSync(join(place.folder, 'plain.txt'), '');
    linkSync(join(place.folder, '.env'), join(place.folder, 'notes.txt'));
    linkSync(join(config, 'deep', 'config.json'), join(place.folder, 'settings.json'));
    linkSync(join(place.folder, 'plain.txt'), join(place.folder, 'src', 'twin.txt'));
    for (const [name, twin] of [
      ['notes.txt', join(place.folder, '.env')],
      ['settings.json', join(config, 'deep', 'config.json')],
    ] as const)
      expect(await judge('read_file', name, { allow: ['read_file'] })).toEqual({
        decision: 'ask',
        reason: `it is the same file as ${twin}, which is private`,
        rule: null,
      });
    expect(await judge('read_file', 'src/twin.txt')).toEqual({ decision: 'allow' });
  });

  it.each(['.git/hooks/pre-commit', '.git/config', '.husky/pre-push', '~/.bashrc', '.Git/config'])(
    '%s is always asked for when it shall be written, because it runs later',
    async (path) => {
      expect(await judge('write_file', path, { allow: ['write_file'] })).toMatchObject({ decision: 'ask', rule: null });
    },
  );

  it('is compared with a pattern quickly, however long it is', async () => {
    const permissions = { deny: ['read_file(docs/*a*b*.md)'] };
    expect((await judge('read_file', `docs/${'ab'.repeat(20_000)}`, permissions)).decision).toBe('allow');
    expect((await judge('read_file', 'docs/abab.md', permissions)).decision).toBe('deny');
  });

  it('is compared with a pattern below a folder whose name contains brackets', async () => {
    const folder = join(place.folder, '[a]');
    place.context = { ...place.context, cwd: { start: folder, now: folder } };
    const deny = ['read_file(docs/*.md)'];
    expect((await judge('read_file', 'docs/x.md', { deny })).decision).toBe('deny');
    expect((await judge('read_file', 'docs/x.txt', { deny })).decision).toBe('allow');
  });

  it('is not private if it is a template', async () => {
    expect(await judge('read_file', '.env.example')).toEqual({ decision: 'allow' });
  });

  it('may be read if it is the whole of a cut output', async () => {
    expect(await judge('read_file', join(place.context.spillFolder, 'x.stdout'))).toEqual({ decision: 'allow' });
  });

  it('may be read in the folder of skills, though that is next to the configuration, and is never written', async () => {
    expect(await judge('read_file', '../config/skills/pdf/SKILL.md')).toEqual({ decision: 'allow' });
    expect((await judge('read_file', '../config/skills/../config.json')).decision).toBe('ask');
    expect((await judge('read_file', '../config/skills/.env')).decision).toBe('ask');
    expect((await judge('write_file', '../config/skills/pdf/SKILL.md', { allow: ['write_file'] })).decision).toBe(
      'deny',
    );
  });

  it('is denied anywhere by a rule for the root of the file system', async () => {
    for (const path of ['/etc/hosts', 'src/x', '/'])
      expect([path, (await judge('read_file', path, { deny: ['read_file(/*)'] })).decision]).toEqual([path, 'deny']);
  });

  it.each(['/srv/a*b/x', '/srv/[x]/y', '/srv/a?', '/srv/x:*'])(
    'offers no rule that would mean more: %s',
    async (path) => {
      expect(await judge('read_file', path)).toMatchObject({ decision: 'ask', rule: null });
    },
  );

  it('suggests a rule for its folder if it lies outside', async () => {
    expect(await judge('read_file', '/etc/ssl/x')).toMatchObject({ rule: 'read_file(/etc/ssl/*)' });
    expect(await judge('list_files', '/etc')).toMatchObject({ rule: 'list_files(/etc/*)' });
    expect(await judge('read_file', `${homedir()}/x`)).toMatchObject({ rule: 'read_file(~/x)' });
    expect(await judge('list_files', '/etc/ssl', { allow: ['list_files(/etc/*)'] })).toEqual({ decision: 'allow' });
  });
});

describe('locate', () => {
  it('follows each step like the kernel', async () => {
    symlinkSync('/etc', join(place.folder, 'link'));
    expect((await locate('link/../x', place.folder)).real).toBe('/x');
    expect((await locate('src/none/deeper', place.folder)).real).toBe(join(place.folder, 'src/none/deeper'));
    expect((await locate('~/x', place.folder)).absolute).toBe(`${homedir()}/x`);
  });

  it('follows links to missing targets, from one to the next, but no loop', async () => {
    symlinkSync('src/later', join(place.folder, 'here'));
    symlinkSync('/nowhere/yet', join(place.folder, 'there'));
    symlinkSync('there', join(place.folder, 'over'));
    symlinkSync('loop', join(place.folder, 'loop'));
    const real = async (path: string) => (await locate(path, place.folder)).real;
    expect(await real('here/x')).toBe(join(place.folder, 'src/later/x'));
    expect(await real('over/../x')).toBe('/nowhere/x');
    expect(await real('loop/x')).toBeNull();
  });

  it('distinguishes a folder from one whose name begins with its name', () => {
    expect([
      isInside('/a/b', '/a/b'),
      isInside('/a/b', '/a/b/c'),
      isInside('/a/b', '/a/bc'),
      isInside('/a/b', '/a/..b'),
    ]).toEqual([true, true, false, false]);
    expect(isInside('/a', '/a/..b')).toBe(true);
  });
});
