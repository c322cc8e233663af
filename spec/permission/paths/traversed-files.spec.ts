import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { judgeWith } from '../../support/judging.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-walked-'));
  for (const name of [
    '.env',
    'plain.txt',
    'sub/deep/server.key',
    'src/deep/plain.ts',
    'src/node_modules/a/test.pem',
    'quiet/.env.local',
    'shut/plain.ts',
    'own/plain.txt',
  ]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '');
  }
  mkdirSync(join(folder, 'linked'));
  symlinkSync('../sub', join(folder, 'linked', 'plain'));
  mkdirSync(join(folder, 'pointing'));
  symlinkSync('../.env', join(folder, 'pointing', 'plain.ts'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAMS = 'grep rg ag diff tar zip cp rsync scp find ls git fd cat head wc echo xargs read cd'.split(' ');
const verdict = (command: string, deny: readonly string[] = []) =>
  judgeWith(
    { allow: PROGRAMS.map((name) => `bash(${name}:*)`), deny },
    { root: folder, workingFolder: folder, ownPlaces: [join(folder, 'own')], hasSandbox: false },
  )(command);

/** Whether it is asked for because of what it goes through. In the sandbox these files cannot be read. */
async function isStopped(command: string): Promise<boolean> {
  const found = await verdict(command);
  return found.decision === 'ask' && !found.reason.startsWith('there is no sandbox here');
}

describe('a command that traverses folders', () => {
  it.each([
    'grep -r x',
    'grep -rn x .',
    'grep x -r sub',
    'grep -R x linked',
    'grep -R x pointing',
    'grep --recursive x sub',
    'grep --rec x sub',
    'grep -d recurse x sub',
    'grep --directories=recurse x',
    'grep -rl x -A 3',
    'grep -re x',
    'grep -r --files-with-matches x',
    'grep -r x *',
    'grep -r x "s"*',
    'grep -r --include="*.key" x sub',
    'grep -r --include="[s]erver*" x sub',
    "grep -r --exclude='*' --include=server.key x sub",
    'grep -r --exclude=deep x sub',
    'grep -r x own',
    'grep -r x own/..',
    'rg x',
    'rg x sub',
    'rg --hidden x quiet',
    'rg -uu x quiet',
    "rg -g '.env*' x quiet",
    'rg --files-with-matches x',
    'ag x',
    'git grep --no-index x',
    'git grep --untracked x',
    'git grep --no-index x sub',
    'git diff --no-index sub src',
    'grep -r x "$PWD"',
    'grep -r x $PWD/sub',
    'grep -r x $(pwd)',
    'grep -r x $folder',
    'cat $(pwd)/sub/deep/s*',
    'diff -r sub src',
    'tar cf - .',
    'tar -c sub',
    'tar -C sub -cf - .',
    'zip -r - sub',
    'cp -r sub away',
    'scp -r sub host:',
    'rsync -a sub host:',
    'find . -type f -exec cat {} +',
    "find . -name '.en*' -exec cat {} +",
    "find . -name '*.ts' -o -name '*.key' -exec cat {} +",
    "find . -not -name '*.ts' -exec cat {} +",
    'find -L linked -exec cat {} +',
    'find sub | xargs cat',
    'ls -A | xargs cat',
    'ls -R | xargs cat',
    'git ls-files -o | xargs cat',
    'fd -H x | xargs cat',
    'rg --files sub | xargs cat',
    'cat $(find .)',
    'cat `ls -A`',
    'for f in $(find sub -type f); do cat $f; done',
    'find sub | while read f; do cat "$f"; done',
    'cd sub && grep -r x',
  ])('is asked about if they contain private files: %s', async (command) => {
    expect(await isStopped(command)).toBe(true);
  });

  it.each([
    'grep -r x src',
    'grep -rn x src -A 3',
    'grep -rn "$name" src',
    'grep x -rn plain.txt',
    'grep -r --include="*.ts" x',
    'grep -r --exclude-dir=deep x sub',
    "grep -r --exclude='.env*' x quiet",
    'grep -r x linked pointing',
    'grep x plain.txt',
    'rg x src quiet',
    "rg -g '*.ts' x",
    'git grep x',
    'git grep --no-index x src',
    'git diff --no-index plain.txt src/deep/plain.ts',
    'grep -r x "$PWD"/src',
    'tar xf src.tar',
    'tar tf src.tar',
    'cp plain.txt away',
    'find . -name "*.key"',
    'find . -name "*.key" -exec ls -la {} +',
    "find . -name '*.ts' -exec cat {} +",
    "find . -name '*.ts' | xargs cat",
    'find sub | xargs ls',
    'find sub | wc -l',
    'ls -la . sub/deep | head',
    'ls | xargs cat',
    'git ls-files | xargs cat',
    'echo $(ls -A)',
    'cd src && grep -r x deep',
  ])('passes if they contain none, or none is read: %s', async (command) => {
    expect(await isStopped(command)).toBe(false);
  });

  it('names the file because of which it is asked about', async () => {
    expect(await verdict('grep -r x sub')).toMatchObject({
      reason: `it reads ${join(folder, 'sub/deep/server.key')}, and it is a private place, where keys are kept`,
    });
  });

  it('is asked about, even with -y, if a rule forbids a file that it traverses', async () => {
    expect(await verdict('rg x shut src', ['read_file(shut/*)'])).toMatchObject({ decision: 'deny' });
    expect(await verdict('rg x src', ['read_file(*.ts)'])).toMatchObject({ decision: 'ask', mayBeDenied: true });
    expect(await verdict('rg x src', ['read_file(*.md)'])).toMatchObject({ mayBeDenied: false });
  });
});
