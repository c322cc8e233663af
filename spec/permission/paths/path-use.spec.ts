import { homedir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { pathUse, runsWhatItWrites } from '../../../lib/permission/paths/path-use.js';
import { lineOf } from '../../support/command-parts.js';

const use = async (line: string) => pathUse((await lineOf(line)).parts, '/p');
const words = (text: string): readonly string[] => text.split(' ');

describe('the paths in a command line', () => {
  it.each(
    words('cp mv rm ln tee dd install rsync touch truncate mkdir rmdir chmod chown sed patch unzip tar shred split'),
  )('%s writes', async (name) => expect(await use(`/bin/${name} a`)).toMatchObject({ writes: true, mayWrite: true }));

  it.each([
    ...words(
      'cat head tail wc grep egrep fgrep rg ls stat file du df tree diff cmp sort uniq cut tr nl tac jq od strings md5sum sha1sum',
    ),
    ...words(
      'sha256sum basename dirname realpath readlink find fd less more which type test [ echo true false : pwd return sleep date ps',
    ),
    ...['add', 'blame', 'check-ignore', 'commit', 'diff', 'grep', 'log', 'ls-files', 'rev-parse', 'show', 'status'].map(
      (one) => `git ${one}`,
    ),
  ])('%s only reads', async (name) =>
    expect(await use(`${name} a`)).toEqual({ writes: false, mayWrite: false, changesFolder: false, folders: ['/p'] }),
  );

  it.each(['make', 'git push', 'git', 'curl', 'find . -delete', 'constructor', 'ls; make'])(
    '%s may write',
    async (line) => expect(await use(line)).toMatchObject({ writes: false, mayWrite: true }),
  );

  it('include those of the commands that it runs', async () => {
    expect(await use('env cat a')).toMatchObject({ mayWrite: false });
    expect(await use('env make a')).toMatchObject({ mayWrite: true });
    expect(await use('env cp a b')).toMatchObject({ writes: true });
  });

  it.each([
    ['cd', ['/p', homedir()]],
    ['cd a', ['/p', '/p/a']],
    ['cd /b; cd c', ['/p', '/b', '/p/c', '/b/c']],
    ['pushd a', ['/p', '/p/a']],
    ['popd', ['/p', homedir()]],
    ['cd - ', ['/p']],
    ['cd -P a', ['/p', '/p/a']],
    ['cd "$x"', ['/p']],
    ['builtin cd a', ['/p', '/p/cd', '/p/a', '/p/cd/a']],
  ])('%s changes to another folder', async (line, folders) => {
    const found = await use(line);
    expect(found.changesFolder).toBe(true);
    expect(found.folders).toEqual(expect.arrayContaining([...folders]));
  });

  it('may be relative to any folder if commands are hidden, and too many', async () => {
    for (const line of ['$x a', 'eval "$x"', 'ls "'])
      expect([line, await use(line)]).toMatchObject([line, { changesFolder: true }]);
    expect(await use('echo cd-x; ls > cd')).toMatchObject({ changesFolder: false });
    expect((await use('cd a; cd b; cd c; cd d')).folders).toHaveLength(16);
    expect((await use('cd a; cd b; cd c; cd d; cd e')).folders).toBeNull();
  });
});

describe('a line that runs a script', () => {
  const writes = async (line: string) => runsWhatItWrites((await lineOf(line)).parts);

  it.each([
    ...['echo x > s.sh; ./s.sh', 'cp a s.sh; sh s.sh', 'cp $x $y; ./s.sh', 'tee d/s.sh; ./s.sh', 'python3 x.py > x.py'],
    ...['curl -o s.sh; . ./s.sh', 'echo "$((x))"; ./s.sh'],
  ])('may write it itself: %s', async (line) => expect(await writes(line)).toBe(true));

  it.each([
    ...[
      './s.sh',
      'echo x > s.sh',
      './s.sh > log',
      'cat < s.sh; ./s.sh',
      'chmod +x s.sh; ./s.sh',
      'cat s.sh; ./s.sh',
      'cp a b; ./s.sh',
      'make',
    ],
    ...['ls s.sh; ./s.sh', './t.sh s.sh; ./s.sh', 'python3 a.py; python3 a.py'],
  ])('may not write it: %s', async (line) => expect(await writes(line)).toBe(false));
});
